package names

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// maxUnindexed is how many messages that the search index does not have yet the hub searches for a trace. While more are missing, only
// an owner joins a trace by naming it.
const maxUnindexed = 1000

// JoinableTrace returns the trace that the caller names, or nothing if the caller may not join it. A caller may join a trace if it may
// read one of its messages, or is an owner; knowing the id is not enough. An id that no message has is a new trace of the caller. own
// is the trace that the caller is already in.
func JoinableTrace(u *unit.Unit, trace, own string) (string, error) {
	if trace == "" || u.SeesAll() || own != "" && parley.TraceKey(trace) == parley.TraceKey(own) {
		return trace, nil
	}
	takesPart, others, err := mayReadTrace(u, trace)
	if err != nil || others && !takesPart {
		return "", err
	}
	return trace, nil
}

// mayReadTrace reports whether the caller may read a message of a trace, and whether the trace has messages that the caller may not
// read.
func mayReadTrace(u *unit.Unit, trace string) (takesPart, others bool, err error) {
	list, cut, err := conversationsInTrace(u, trace)
	for _, conversation := range list {
		if err != nil || takesPart {
			break
		}
		_, err = conversations.Conversation(u, conversation)
		if _, hidden := errors.AsType[unit.Unknown](err); hidden {
			others, err = true, nil
			continue
		}
		takesPart = err == nil
	}
	return takesPart, others || cut, err
}

// conversationsInTrace returns conversations with messages of a trace: that of the message whose id is the trace, that of one indexed
// message the caller may read, that of any other indexed message, and those of messages that the index does not have yet. cut is true
// if there are too many of the last. It reads no message texts, because other writers wait meanwhile.
func conversationsInTrace(u *unit.Unit, trace string) (list []string, cut bool, err error) {
	first, err := u.Messages().Get(uuid.UUID(parley.TraceBytes(trace)).String())
	if err == nil {
		list = append(list, first.Conversation)
	} else if !errors.Is(err, parley.ErrNotFound) {
		return nil, false, err
	}
	for _, reader := range []string{u.Me.ID, ""} {
		found, err := u.Search().Match(storage.SearchQuery{Trace: trace, Reader: reader, Limit: 1})
		if err != nil {
			return nil, false, err
		}
		for _, m := range found.Messages {
			list = append(list, m.Conversation)
		}
	}
	mark, err := u.Search().Mark()
	if err != nil {
		return nil, false, err
	}
	rest, cut, err := u.Messages().InTrace(trace, mark.Seq, maxUnindexed)
	return append(list, rest...), cut, err
}

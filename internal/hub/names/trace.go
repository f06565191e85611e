package names

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// maxUnindexed is how many messages that the search index does not have yet are looked at for a trace. While more
// are missing, nobody but an owner joins a trace by naming it.
const maxUnindexed = 1000

// MayJoinTrace returns the trace that the caller names, or nothing if the caller may not join it. A caller joins a trace if it
// may read a message of the trace, or is an owner; to know the id is not enough. An id that no message has is new, and the
// caller's.
func MayJoinTrace(u *unit.Unit, trace, own string) (string, error) {
	if trace == "" || u.SeesAll() || own != "" && parley.TraceKey(trace) == parley.TraceKey(own) {
		return trace, nil
	}
	takesPart, others, err := mayReadTrace(u, trace)
	if err != nil || others && !takesPart {
		return "", err
	}
	return trace, nil
}

// mayReadTrace says whether the caller may read a message of a trace, and whether there are messages that it may not.
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

// conversationsInTrace are the conversations of messages of a trace: of the one whose id it has, of one in the index that the caller may
// read, of any other one there, and of those that the index does not have yet. cut says that there are too many of these to
// look at. Others wait to write meanwhile, so no texts of these are read.
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

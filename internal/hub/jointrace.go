package hub

import (
	"cmp"
	"errors"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// unindexedLooked is how many messages that the search index does not have yet are looked at for a trace. While more
// are missing, nobody but an owner joins a trace by naming it.
const unindexedLooked = 1000

// traceOf is the trace of a new message: the one that its sender names, if it may join that; else that of its run or of
// the message it answers; else that of the call; else one of its own.
func (s *scene) traceOf(p post, given string, parent *parley.Message) (string, error) {
	inherited := p.inherits
	switch {
	case inherited != "":
	case p.by != nil:
		inherited = p.by.TraceID
	case parent != nil:
		inherited = parent.TraceID
	}
	if given == "" && inherited == "" {
		given = p.trace
	}
	given, err := s.mayJoinTrace(given, inherited)
	return cmp.Or(given, inherited, p.id), err
}

// mayJoinTrace returns the trace that the caller names, or nothing if the caller may not join it. A caller joins a trace if it
// may read a message of the trace, or is an owner; to know the id is not enough. An id that no message has is new, and the
// caller's.
func (s *scene) mayJoinTrace(trace, own string) (string, error) {
	if trace == "" || s.seesAll() || own != "" && parley.TraceKey(trace) == parley.TraceKey(own) {
		return trace, nil
	}
	takesPart, others, err := s.inTrace(trace)
	if err != nil || others && !takesPart {
		return "", err
	}
	return trace, nil
}

// inTrace says whether the caller may read a message of a trace, and whether there are messages that it may not.
func (s *scene) inTrace(trace string) (takesPart, others bool, err error) {
	list, cut, err := s.someOf(trace)
	for _, m := range list {
		if err != nil || takesPart {
			break
		}
		_, err = s.conversation(m.Conversation)
		if _, hidden := errors.AsType[unknown](err); hidden {
			others, err = true, nil
			continue
		}
		takesPart = err == nil
	}
	return takesPart, others || cut, err
}

// someOf are messages of a trace: the one whose id it has, one in the index that the caller may read, any other one
// there, and those that the index does not have yet. cut says that there are too many of these to look at.
func (s *scene) someOf(trace string) (list []parley.Message, cut bool, err error) {
	first, err := s.Messages().Get(uuid.UUID(parley.TraceBytes(trace)).String())
	if err == nil {
		list = append(list, first)
	} else if !errors.Is(err, parley.ErrNotFound) {
		return nil, false, err
	}
	for _, reader := range []string{s.me.ID, ""} {
		found, err := s.Search().Match(parley.SearchQuery{Trace: trace, Reader: reader, Limit: 1})
		if err != nil {
			return nil, false, err
		}
		list = append(list, found.Messages...)
	}
	mark, err := s.Search().Mark()
	if err != nil {
		return nil, false, err
	}
	looked := 0
	for after := mark.Seq; looked < unindexedLooked; { // large ones come in parts
		tail, err := s.Messages().Scan(after, unindexedLooked-looked)
		if err != nil || len(tail) == 0 {
			return list, false, err
		}
		for _, m := range tail {
			if parley.TraceKey(m.TraceID) == parley.TraceKey(trace) {
				list = append(list, m)
			}
		}
		looked, after = looked+len(tail), tail[len(tail)-1].Seq
	}
	return list, true, nil
}

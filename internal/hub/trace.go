package hub

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

const (
	maxTraced        = 1000
	readBytes        = 4 << 20 // of the texts of one trace or thread: a thousand messages may have a quarter of a gigabyte
	tracedDeliveries = 20_000
)

// Trace returns the messages of a trace that the caller may read, in order, with what has become of each, and the
// runs that it may see. It is named by its id in any spelling, or by the id of one of its messages, that of its file in a
// bridged tree included. Of more than a thousand, or of more than 4 MiB of texts, the newest are shown, and it says so.
func (h *Hub) Trace(ctx context.Context, caller Caller, id string) (found parley.Traced, err error) {
	if err := parley.CheckTrace(id); err != nil {
		return found, err
	}
	me, err := h.whoIs(ctx, caller, opReadTrace)
	if err != nil {
		return found, err
	}
	h.index.await(ctx, me)
	err = h.view(ctx, caller, opReadTrace, func(s *scene) error {
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		if found, err = s.trace(id); err == nil {
			found.Runs, err = s.tracedRuns(found.Items)
		}
		return err
	})
	return found, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: tracing, Subject: id})
}

func (s *scene) trace(id string) (shown parley.Traced, err error) {
	found := &traced{scene: s, trace: id, known: map[string]bool{}}
	first, err := s.tracedBy(id)
	if err != nil {
		return shown, err
	}
	if first != nil {
		found.trace = first.TraceID
		found.add(*first)
	}
	if err := found.indexed(); err != nil {
		return shown, err
	}
	if err := found.linked(); err != nil {
		return shown, err
	}
	if len(found.list) == 0 {
		return s.traceNamed(id)
	}
	sortBySeq(found.list)
	shown.Items, shown.Cut = make([]parley.Shown, len(found.list)), found.cut
	deliveries := 0
	for i, m := range found.list {
		shown.Items[i].Message = m
		if deliveries >= tracedDeliveries {
			shown.Cut = true
			continue
		}
		if shown.Items[i].Deliveries, err = s.Deliveries().Of(m.ID); err != nil {
			return shown, err
		}
		deliveries += len(shown.Items[i].Deliveries)
		if shown.Items[i].Ask, err = s.tracedAsk(shown.Items[i]); err != nil {
			return shown, err
		}
	}
	return shown, nil
}

// traceNamed is the trace of a run, approval or task, by its short name.
func (s *scene) traceNamed(name string) (parley.Traced, error) {
	id, err := s.traceOfWork(name)
	if err == nil && (id == "" || id == name) {
		err = unknown{"trace", name}
	}
	if err != nil {
		return parley.Traced{}, err
	}
	shown, err := s.trace(id)
	if _, hidden := errors.AsType[unknown](err); hidden {
		err = unknown{"trace", name}
	}
	return shown, err
}

// tracedBy is the message whose id this is, in any spelling, if the caller may read it. The first message of
// a trace often gives it its id. Where no trace has the id either, it may be that of a file.
func (s *scene) tracedBy(id string) (*parley.Message, error) {
	raw := parley.TraceBytes(id)
	m, err := s.maybeMessage(uuid.UUID(raw).String())
	if m != nil || err != nil {
		return m, err
	}
	q := parley.SearchQuery{Trace: id, Limit: 1}
	if !s.seesAll() {
		q.Reader = s.me.ID
	}
	found, err := s.Search().Match(q)
	if err != nil || len(found.Messages) > 0 {
		return nil, err
	}
	if m, err = s.filed(id); m != nil || err != nil {
		return m, err
	}
	return s.messageNamed(id)
}

// messageNamed is the message that the caller calls by a short name or a piece of its id and may read, or nil.
func (s *scene) messageNamed(name string) (*parley.Message, error) {
	if !namesMessage(name) {
		return nil, nil
	}
	id, err := s.findID(parley.NounMessage, name)
	if _, hidden := errors.AsType[unknown](err); hidden {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.maybeMessage(id)
}

// maybeMessage is a message that the caller may read, or nil.
func (s *scene) maybeMessage(id string) (*parley.Message, error) {
	m, _, err := s.message(id)
	if _, hidden := errors.AsType[unknown](err); hidden {
		return nil, nil
	}
	return &m, err
}

// filed is the newest message that the caller may read whose file has a name in the tree of a bridge, or nil.
func (s *scene) filed(name string) (newest *parley.Message, err error) {
	trees, err := s.Bridges().List()
	if err != nil {
		return nil, err
	}
	for _, b := range trees {
		came, err := s.Bridges().Named(b.ID, name, "")
		if err = ignoreNotFound(err); err != nil {
			return nil, err
		}
		departed, err := s.Bridges().DepartedAs(b.ID, "", name)
		if err = ignoreNotFound(err); err != nil {
			return nil, err
		}
		for _, id := range []string{came.Message, departed.Message} {
			if id == "" {
				continue
			}
			m, err := s.maybeMessage(id)
			if err != nil {
				return nil, err
			}
			if m != nil && (newest == nil || newest.Seq < m.Seq) {
				newest = m
			}
		}
	}
	return newest, nil
}

// traced is the messages of a trace found so far.
type traced struct {
	*scene
	trace string
	list  []parley.Message
	known map[string]bool
	bytes int
	cut   bool // there is one more than there is room for
}

func (t *traced) add(m parley.Message) {
	if t.known[m.ID] || parley.TraceKey(m.TraceID) != parley.TraceKey(t.trace) {
		return
	}
	if t.cut = len(t.list) >= maxTraced || t.bytes >= readBytes; t.cut {
		return
	}
	t.known[m.ID] = true
	t.list = append(t.list, m)
	t.bytes += m.Size()
}

// indexed adds what the index has.
func (t *traced) indexed() error {
	q := parley.SearchQuery{Trace: t.trace, Limit: maxTraced}
	if !t.seesAll() {
		q.Reader = t.me.ID
	}
	for {
		found, err := t.Search().Match(q)
		if err != nil {
			return err
		}
		for _, m := range found.Messages {
			t.add(m)
		}
		if q.Below = found.Rest; q.Below == 0 || t.cut {
			return nil
		}
	}
}

// linked adds what the index does not have, because it is new or was redacted, but a message that was found
// answers or is answered by.
func (t *traced) linked() error {
	for i := 0; i < len(t.list) && !t.cut; i++ {
		m := t.list[i]
		near, err := t.Messages().Replies(m.ID, maxTraced)
		if err != nil {
			return err
		}
		if m.InReplyTo != "" && !t.known[m.InReplyTo] {
			parents, err := t.Messages().GetAll([]string{m.InReplyTo})
			if err != nil {
				return err
			}
			near = append(near, parents...)
		}
		for _, other := range near {
			if other.Conversation == m.Conversation { // which the caller may read
				t.add(other)
			}
		}
	}
	return nil
}

package reading

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

const maxTraceMessages = 1000

const maxTraceDeliveries = 20_000

// Trace returns the messages of a trace that the caller may read, in order, with their deliveries, and the runs that the caller
// may see. id is the trace's id in any spelling, the id of one of its messages, or the id of a message's file in a bridged
// tree. If there are more than a thousand messages or 4 MiB of texts, the result has the newest ones and says so.
func (s *Service) Trace(ctx context.Context, caller unit.Caller, id string) (found parley.Traced, err error) {
	if err := parley.CheckTrace(id); err != nil {
		return found, err
	}
	me, err := inbox.CallerID(ctx, s.Core, caller, unit.OpReadTrace)
	if err != nil {
		return found, err
	}
	s.Index.Await(ctx, me)
	err = s.View(ctx, caller, unit.OpReadTrace, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		if found, err = collectTrace(u, id); err == nil {
			found.Runs, err = tracedRuns(u, found.Items)
		}
		return err
	})
	return found, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.Tracing, Subject: id})
}

func collectTrace(u *unit.Unit, id string) (shown parley.Traced, err error) {
	found := &traceMessages{Unit: u, trace: id, known: map[string]bool{}}
	first, err := FindTracedMessage(u, id)
	if err != nil {
		return shown, err
	}
	if first != nil {
		found.trace = first.TraceID
		found.add(*first)
	}
	if err := found.addIndexed(); err != nil {
		return shown, err
	}
	if err := found.addLinked(); err != nil {
		return shown, err
	}
	if len(found.list) == 0 {
		return traceByName(u, id)
	}
	unit.SortBySeq(found.list)
	shown.Items, shown.Cut = make([]parley.Shown, len(found.list)), found.cut
	deliveries := 0
	for i, m := range found.list {
		shown.Items[i].Message = m
		if deliveries >= maxTraceDeliveries {
			shown.Cut = true
			continue
		}
		if shown.Items[i].Deliveries, err = u.Deliveries().OfMessage(m.ID); err != nil {
			return shown, err
		}
		deliveries += len(shown.Items[i].Deliveries)
		if shown.Items[i].Ask, err = contact.AskStateOf(u, shown.Items[i]); err != nil {
			return shown, err
		}
		if shown.Items[i].Approval, err = approvalAskedFor(u, m); err != nil {
			return shown, err
		}
	}
	return shown, nil
}

// approvalAskedFor returns what became of the approval that a message of the hub asks for, or nil if it asks for none that the caller
// may see.
func approvalAskedFor(u *unit.Unit, m parley.Message) (*parley.TracedApproval, error) {
	id := work.ApprovalAskedFor(m)
	if id == "" || m.From != parley.System || m.Source != approvals.SourceApproval {
		return nil, nil
	}
	a, err := approvals.Find(u, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return nil, nil
	}
	return &parley.TracedApproval{Name: a.ShortName(), State: a.State, DecidedBy: a.DecidedBy, DecidedAt: a.DecidedAt}, err
}

// traceByName returns the trace of a run, an approval or a task by its short name.
func traceByName(u *unit.Unit, name string) (parley.Traced, error) {
	id, err := names.TraceOfWork(u, name)
	if err == nil && (id == "" || id == name) {
		err = unit.Unknown{Noun: "trace", Name: name}
	}
	if err != nil {
		return parley.Traced{}, err
	}
	shown, err := collectTrace(u, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		err = unit.Unknown{Noun: "trace", Name: name}
	}
	return shown, err
}

// FindTracedMessage returns the message with an id, in any spelling, because a trace often has the id of its first message. If no
// message and no trace has the id, it looks for a message by its file or its short name. It returns nil if there is none that
// the caller may read.
func FindTracedMessage(u *unit.Unit, id string) (*parley.Message, error) {
	raw := parley.TraceBytes(id)
	m, err := readableMessage(u, uuid.UUID(raw).String())
	if m != nil || err != nil {
		return m, err
	}
	q := storage.SearchQuery{Trace: id, Limit: 1}
	if !u.SeesAll() {
		q.Reader = u.Me.ID
	}
	found, err := u.Search().Match(q)
	if err != nil || len(found.Messages) > 0 {
		return nil, err
	}
	if m, err = messageOfFile(u, id); m != nil || err != nil {
		return m, err
	}
	return messageByName(u, id)
}

// messageByName returns the message with a short name or a part of an id, or nil if there is none that the caller may read.
func messageByName(u *unit.Unit, name string) (*parley.Message, error) {
	if !names.IsMessageName(name) {
		return nil, nil
	}
	id, err := names.FindID(u, parley.NounMessage, name)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readableMessage(u, id)
}

// readableMessage returns a message, or nil if the caller may not read it.
func readableMessage(u *unit.Unit, id string) (*parley.Message, error) {
	m, _, err := conversations.Message(u, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return nil, nil
	}
	return &m, err
}

// messageOfFile returns the newest message whose file in the tree of a bridge has a name, or nil if there is none that the
// caller may read.
func messageOfFile(u *unit.Unit, name string) (newest *parley.Message, err error) {
	trees, err := u.Bridges().List()
	if err != nil {
		return nil, err
	}
	for _, b := range trees {
		came, err := u.Bridges().FileNamed(b.ID, name, "")
		if err = unit.IgnoreNotFound(err); err != nil {
			return nil, err
		}
		departed, err := u.Bridges().DepartureNamed(b.ID, "", name)
		if err = unit.IgnoreNotFound(err); err != nil {
			return nil, err
		}
		for _, id := range []string{came.Message, departed.Message} {
			if id == "" {
				continue
			}
			m, err := readableMessage(u, id)
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

// traceMessages has the messages of a trace that were found so far.
type traceMessages struct {
	*unit.Unit
	trace string
	list  []parley.Message
	known map[string]bool
	size  int
	cut   bool // there are more messages than fit
}

func (t *traceMessages) add(m parley.Message) {
	if t.known[m.ID] || parley.TraceKey(m.TraceID) != parley.TraceKey(t.trace) {
		return
	}
	if t.cut = len(t.list) >= maxTraceMessages || t.size >= unit.ReadBytes; t.cut {
		return
	}
	t.known[m.ID] = true
	t.list = append(t.list, m)
	t.size += m.Size()
}

// addIndexed adds the messages that the index has.
func (t *traceMessages) addIndexed() error {
	q := storage.SearchQuery{Trace: t.trace, Limit: maxTraceMessages}
	if !t.SeesAll() {
		q.Reader = t.Me.ID
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

// addLinked adds messages that the index does not have, because they are new or were redacted: parents of and replies to
// messages that were found.
func (t *traceMessages) addLinked() error {
	for i := 0; i < len(t.list) && !t.cut; i++ {
		m := t.list[i]
		near, err := t.Messages().Replies(m.ID, maxTraceMessages)
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
			if other.Conversation == m.Conversation { // so the caller may read it
				t.add(other)
			}
		}
	}
	return nil
}

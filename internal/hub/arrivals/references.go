package arrivals

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// resolveReferences replaces names of the format by ids of the hub: the message that a document answers, and the tasks it
// depends on. Unknown references are dropped, with a notice.
func (in *documentWriter) resolveReferences(b parley.Bridge, l *Document, p *post.Posting) (notices []string, err error) {
	d := &p.Draft
	if err := in.resolveReply(b, l, d); err != nil {
		return nil, err
	}
	if l.ReplyTo != "" && d.InReplyTo == "" {
		notices = append(notices, fmt.Sprintf("it answers %s, which is not known here", unit.Clipped(l.ReplyTo)))
	}
	if d.Task != "" {
		_, err := tasks.Task(in.Unit, d.Task)
		if _, none := errors.AsType[unit.Unknown](err); none {
			notices = append(notices, fmt.Sprintf("it names %s, which is none of its tasks", unit.Clipped(d.Task)))
			d.Task = ""
		} else if err != nil {
			return notices, err
		}
	}
	if d.Deadline != nil && !d.Deadline.After(in.Now) {
		notices = append(notices, "its deadline has passed: "+d.Deadline.Format(time.RFC3339))
		d.Deadline = nil
	}
	return notices, in.resolveTaskReferences(b, l, p)
}

// resolveTaskReferences resolves the dependencies and the deadline of the task that a document asks for. It copies what it
// changes, because the update may run again.
func (in *documentWriter) resolveTaskReferences(b parley.Bridge, l *Document, p *post.Posting) error {
	if p.Intent == nil || p.Intent.Wanted == nil {
		return nil
	}
	do, asks := *p.Intent, *p.Intent.Wanted
	asks.After = slices.Clone(asks.After)
	for i, name := range asks.After {
		id, err := messageInTree(in.Unit, b, name, l.From, l.To)
		if err == nil && id != "" {
			_, _, err = conversations.Message(in.Unit, id)
		}
		if _, hidden := errors.AsType[unit.Unknown](err); hidden {
			id, err = "", nil // the sender may not read it: it knows no other name for it than its own
		}
		if err != nil {
			return err
		}
		asks.After[i] = cmp.Or(id, name)
	}
	if asks.Deadline != nil && !asks.Deadline.After(in.Now) {
		asks.Deadline = nil
	}
	do.Wanted = &asks
	p.Intent = &do
	return nil
}

// resolveReply sets the message that a document answers, if the document may answer it in that conversation. Messages that
// were delivered to the sender, and those of the hub, may be in any conversation.
func (in *documentWriter) resolveReply(b parley.Bridge, l *Document, d *parley.Draft) error {
	m, where, err := in.answeredMessage(b, l)
	if err != nil || m.ID == "" {
		return err
	}
	if !isAddressOf(where, l) || l.To == parley.System {
		_, err := in.Deliveries().Get(m.ID, l.From)
		if err != nil || m.From != l.To || l.Channel != "" {
			return unit.IgnoreNotFound(err)
		}
		d.Direct, d.Conversation = nil, where.ID
	}
	if d.InReplyTo = m.ID; l.To == parley.System {
		d.To, d.Sequence = "", 0
	}
	return nil
}

// isAddressOf reports whether a conversation matches the address of a document.
func isAddressOf(c parley.Conversation, l *Document) bool {
	if l.Channel != "" {
		return c.Name == l.Channel
	}
	return c.Kind == parley.DM && c.Set == parley.SetKey([]string{l.From, l.To})
}

// answeredMessage returns the message that a document answers, or an empty one if it is unknown or hidden from the sender.
func (in *documentWriter) answeredMessage(b parley.Bridge, l *Document) (m parley.Message, where parley.Conversation, err error) {
	id, err := messageInTree(in.Unit, b, l.ReplyTo, cmp.Or(l.Channel, l.From), l.To)
	if err != nil || id == "" {
		return m, where, err
	}
	m, place, err := conversations.Message(in.Unit, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return parley.Message{}, where, nil
	}
	return m, place.Conversation, err
}

// messageInTree returns the id of the message that a name in the tree stands for, or "". It prefers messages written for the
// folder, then documents of the sender, then any.
func messageInTree(u *unit.Unit, b parley.Bridge, name, folder, from string) (string, error) {
	if name == "" || !trees.Keepable(name, folder, from) {
		return "", nil
	}
	for _, find := range []func() (string, error){
		func() (string, error) {
			d, err := u.Bridges().DepartureNamed(b.ID, folder, name)
			return d.Message, err
		},
		func() (string, error) { f, err := u.Bridges().FileNamed(b.ID, name, from); return f.Message, err },
		func() (string, error) { d, err := u.Bridges().DepartureNamed(b.ID, "", name); return d.Message, err },
		func() (string, error) { f, err := u.Bridges().FileNamed(b.ID, name, ""); return f.Message, err },
	} {
		id, err := find()
		if err = unit.IgnoreNotFound(err); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// keepHistory stores a document as history: at the end of the order, with its own time, and without deliveries. It still
// counts as an answer.
func (in *documentWriter) keepHistory(b parley.Bridge, l *Document, got parley.Arrived) (parley.Arrived, error) {
	where, err := in.historyConversation(b, l)
	if err != nil {
		return got, err
	}
	if err := artifacts.Check(in.Unit, l.Posting.Draft.Content.Artifacts); err != nil {
		return got, err
	}
	d, m := l.Posting.Draft, l.Posting.Body
	m.ID, m.Conversation, m.From, m.Source = l.Posting.ID, where.ID, in.Me.ID, unit.Bridged
	m.Type, m.Priority, m.CreatedAt = d.Type, d.Priority, historyTime(in.Unit, l.At)
	answered, there, err := in.answeredMessage(b, l)
	if err != nil {
		return got, err
	}
	if there.ID == where.ID {
		m.InReplyTo = answered.ID
	}
	trace, err := names.JoinableTrace(in.Unit, d.TraceID, "")
	if err != nil {
		return got, err
	}
	if m.TraceID, m.Hops = cmp.Or(trace, m.ID), 1; l.To == parley.All {
		m.To = parley.All
	} else if l.To != "" {
		to, err := in.Agents().Find(l.To)
		if m.To = to.ID; errors.Is(err, parley.ErrNotFound) {
			got.Notices = append(got.Notices, "it is for "+unit.Clipped(l.To)+", who is not known here")
		} else if err != nil {
			return got, err
		}
	}
	says, notices, err := in.effectsWithinTree(l, &m, answered, where)
	if got.Notices = append(got.Notices, notices...); err != nil {
		return got, err
	}
	got.Message = m.ID
	if err := in.History.AddMessage(m, l.Posting.Digest); err != nil {
		return got, err
	}
	return got, in.applyEffects(says, m)
}

// historyTime returns the time that a document gives, but not a time in the future.
func historyTime(u *unit.Unit, at time.Time) time.Time {
	if at.IsZero() || at.After(u.Now) {
		return u.Now
	}
	return at.UTC().Truncate(time.Millisecond)
}

// historyConversation returns the conversation that a document of history belongs to.
func (in *documentWriter) historyConversation(b parley.Bridge, l *Document) (parley.Conversation, error) {
	switch {
	case l.Channel == "" && l.To == parley.All:
		return messages.BroadcastChannel(in.Unit)
	case l.Channel == "":
		to, err := agents.Agent(in.Unit, l.To)
		if err != nil {
			return parley.Conversation{}, err
		}
		if to.ID == in.Me.ID {
			return parley.Conversation{}, conversations.ToOneself(to.ID)
		}
		if to.Kind == parley.KindSystem {
			return parley.Conversation{}, conversations.ToSystem(to.ID)
		}
		return conversations.Dm(in.Unit, in.Me.ID, to.ID)
	}
	channel, err := mappedChannel(in.Unit, b, l.Channel)
	if err != nil {
		return parley.Conversation{}, err
	}
	where, err := post.FindDestination(in.Unit, parley.Draft{Conversation: channel})
	return where.Conversation, err
}

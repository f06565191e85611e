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

// resolveReferences replaces names of the format by ids of the hub: the message that a document answers, its task, and the tasks
// it depends on. It drops unknown references, and returns a notice for each.
func (in *documentWriter) resolveReferences(b parley.Bridge, doc *Document, p *post.Posting) (notices []string, err error) {
	d := &p.Draft
	if err := in.resolveReply(b, doc, d); err != nil {
		return nil, err
	}
	if doc.ReplyTo != "" && d.InReplyTo == "" {
		notices = append(notices, fmt.Sprintf("it answers %s, which this hub does not know", unit.Clipped(doc.ReplyTo)))
	}
	if d.Task != "" {
		_, err := tasks.Task(in.Unit, d.Task)
		if _, unknown := errors.AsType[unit.Unknown](err); unknown {
			notices = append(notices, fmt.Sprintf("it names the task %s, which its sender does not have", unit.Clipped(d.Task)))
			d.Task = ""
		} else if err != nil {
			return notices, err
		}
	}
	if d.Deadline != nil && !d.Deadline.After(in.Now) {
		notices = append(notices, "its deadline has passed: "+d.Deadline.Format(time.RFC3339))
		d.Deadline = nil
	}
	return notices, in.resolveTaskReferences(b, doc, p)
}

// resolveTaskReferences resolves the dependencies and the deadline of the task that a document asks for. It copies what it
// changes, because the update may run again.
func (in *documentWriter) resolveTaskReferences(b parley.Bridge, doc *Document, p *post.Posting) error {
	if p.Intent == nil || p.Intent.Wanted == nil {
		return nil
	}
	intent, request := *p.Intent, *p.Intent.Wanted
	request.After = slices.Clone(request.After)
	for i, name := range request.After {
		id, err := messageInTree(in.Unit, b, name, doc.From, doc.To)
		if err == nil && id != "" {
			_, _, err = conversations.Message(in.Unit, id)
		}
		if _, hidden := errors.AsType[unit.Unknown](err); hidden {
			id, err = "", nil // the sender may not read the message, so the name stays as it is
		}
		if err != nil {
			return err
		}
		request.After[i] = cmp.Or(id, name)
	}
	if request.Deadline != nil && !request.Deadline.After(in.Now) {
		request.Deadline = nil
	}
	intent.Wanted = &request
	p.Intent = &intent
	return nil
}

// resolveReply sets the message that a document answers, if the document may answer it. Usually both must be in the same
// conversation. A message that was delivered to the sender, or that the hub has sent, may be in any conversation.
func (in *documentWriter) resolveReply(b parley.Bridge, doc *Document, d *parley.Draft) error {
	m, where, err := in.answeredMessage(b, doc)
	if err != nil || m.ID == "" {
		return err
	}
	if !isAddressOf(where, doc) || doc.To == parley.System {
		_, err := in.Deliveries().Get(m.ID, doc.From)
		if err != nil || m.From != doc.To || doc.Channel != "" {
			return unit.IgnoreNotFound(err)
		}
		d.Direct, d.Conversation = nil, where.ID
	}
	if d.InReplyTo = m.ID; doc.To == parley.System {
		d.To, d.Sequence = "", 0
	}
	return nil
}

// isAddressOf reports whether a conversation matches the address of a document.
func isAddressOf(c parley.Conversation, doc *Document) bool {
	if doc.Channel != "" {
		return c.Name == doc.Channel
	}
	return c.Kind == parley.DM && c.Set == parley.MemberSetKey([]string{doc.From, doc.To})
}

// answeredMessage returns the message that a document answers, or an empty one if it is unknown or hidden from the sender.
func (in *documentWriter) answeredMessage(b parley.Bridge, doc *Document) (m parley.Message, where parley.Conversation, err error) {
	id, err := messageInTree(in.Unit, b, doc.ReplyTo, cmp.Or(doc.Channel, doc.From), doc.To)
	if err != nil || id == "" {
		return m, where, err
	}
	m, place, err := conversations.Message(in.Unit, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return parley.Message{}, where, nil
	}
	return m, place.Conversation, err
}

// messageInTree returns the id of the message that has a name in the tree, or "". It prefers a message that was written into the
// folder, then a document of the sender, then any other.
func messageInTree(u *unit.Unit, b parley.Bridge, name, folder, from string) (string, error) {
	if name == "" || !trees.IsStorable(name, folder, from) {
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

// keepHistory stores a document as history: at the end of the order, with its own time, and without deliveries. The document
// still counts as an answer.
func (in *documentWriter) keepHistory(b parley.Bridge, doc *Document, result parley.Arrived) (parley.Arrived, error) {
	where, err := in.historyConversation(b, doc)
	if err != nil {
		return result, err
	}
	if err := artifacts.Check(in.Unit, doc.Posting.Draft.Content.Artifacts); err != nil {
		return result, err
	}
	d, m := doc.Posting.Draft, doc.Posting.Body
	m.ID, m.Conversation, m.From, m.Source = doc.Posting.ID, where.ID, in.Me.ID, unit.SourceFile
	m.Type, m.Priority, m.CreatedAt = d.Type, d.Priority, historyTime(in.Unit, doc.At)
	answered, place, err := in.answeredMessage(b, doc)
	if err != nil {
		return result, err
	}
	if place.ID == where.ID {
		m.InReplyTo = answered.ID
	}
	trace, err := names.JoinableTrace(in.Unit, d.TraceID, "")
	if err != nil {
		return result, err
	}
	if m.TraceID, m.Hops = cmp.Or(trace, m.ID), 1; doc.To == parley.All {
		m.To = parley.All
	} else if doc.To != "" {
		to, err := in.Agents().Find(doc.To)
		if m.To = to.ID; errors.Is(err, parley.ErrNotFound) {
			result.Notices = append(result.Notices, "it is for "+unit.Clipped(doc.To)+", which this hub does not know")
		} else if err != nil {
			return result, err
		}
	}
	effects, notices, err := in.effectsWithinTree(doc, &m, answered, where)
	if result.Notices = append(result.Notices, notices...); err != nil {
		return result, err
	}
	result.Message = m.ID
	if err := in.History.AddMessage(m, doc.Posting.Digest); err != nil {
		return result, err
	}
	return result, in.applyEffects(effects, m)
}

// historyTime returns the time that a document gives, but not a time in the future.
func historyTime(u *unit.Unit, at time.Time) time.Time {
	if at.IsZero() || at.After(u.Now) {
		return u.Now
	}
	return at.UTC().Truncate(time.Millisecond)
}

// historyConversation returns the conversation that a document of history belongs to.
func (in *documentWriter) historyConversation(b parley.Bridge, doc *Document) (parley.Conversation, error) {
	switch {
	case doc.Channel == "" && doc.To == parley.All:
		return messages.BroadcastChannel(in.Unit)
	case doc.Channel == "":
		to, err := agents.Agent(in.Unit, doc.To)
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
	channel, err := mappedChannel(in.Unit, b, doc.Channel)
	if err != nil {
		return parley.Conversation{}, err
	}
	where, err := post.FindDestination(in.Unit, parley.Draft{Conversation: channel})
	return where.Conversation, err
}

package post

import (
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// fillEnvelope fills in everything but who is reached and the place in the order.
func fillEnvelope(u *unit.Unit, p Posting, d parley.Draft, where conversations.Place, parent *parley.Message) (parley.Message, error) {
	m := p.Body
	m.ID, m.Conversation, m.From = p.Id, where.ID, u.Me.ID
	m.Type, m.Priority, m.CreatedAt, m.Source = d.Type, d.Priority, u.Now, p.Source
	m.RequiresAck, m.IdempotencyKey, m.Task = d.RequiresAck, d.IdempotencyKey, p.Task
	if parent != nil {
		if parent.Conversation != where.ID {
			return m, parley.Errorf(parley.BadInput, "message %s is in another conversation", parent.ID).
				Suggest("answer it where it is: leave the conversation out")
		}
		m.InReplyTo = parent.ID
	}
	var err error
	if m.TraceID, err = traceOf(u, p, d.TraceID, parent); err != nil {
		return m, err
	}
	if u.Me.Kind == parley.KindAgent {
		m.Hops = 1 + p.Hops
		switch {
		case p.Request:
		case p.By != nil:
			m.Hops += p.By.Hops
		case parent != nil:
			m.Hops += parent.Hops
		}
	}
	if d.TTL > 0 {
		expires := u.Now.Add(time.Duration(d.TTL) * time.Second)
		if p.Expires.After(u.Now) {
			expires = p.Expires
		}
		m.ExpiresAt = &expires
	}
	if m.Deadline, err = messages.Deadline(u, d); err != nil {
		return m, err
	}
	m.To, err = addressee(u, d.To)
	return m, err
}

// ForAll says whether a recipient is every participant of the conversation: all, or @all.
func ForAll(to string) bool { return parley.Fold(strings.TrimPrefix(to, "@")) == parley.All }

// addressee resolves what a draft says in to.
func addressee(u *unit.Unit, to string) (string, error) {
	if to == "" {
		return "", nil
	}
	if ForAll(to) {
		return parley.All, nil
	}
	a, err := agents.Agent(u, to)
	switch {
	case err != nil:
		return "", err
	case a.ID == u.Me.ID:
		return "", conversations.ToOneself(a.ID)
	case a.Kind == parley.KindSystem:
		return "", conversations.ToSystem(a.ID)
	default:
		return a.ID, nil
	}
}

// updateArchived brings a conversation back into the lists, or, once an ephemeral one is answered,
// takes it out of them.
func updateArchived(u *unit.Unit, where conversations.Place, parent *parley.Message) error {
	// What its creator adds is a new question, even as a reply.
	answered := where.Kind == parley.Ephemeral && where.Joined && parent != nil && u.Me.ID != where.CreatedBy
	if answered { // a person has yet to see the answer: see archiveAnswered
		asker, err := u.Agents().Find(where.CreatedBy)
		if err != nil {
			return err
		}
		answered = asker.Kind != parley.KindHuman || asker.RemovedAt != nil
	}
	if answered == (where.ArchivedAt != nil) {
		return nil
	}
	return conversations.SetArchived(u, &where.Conversation, answered)
}

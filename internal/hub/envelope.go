package hub

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// longestDeadline keeps a date from being too far ahead to be written down.
const longestDeadline = 10 * 365 * 24 * time.Hour

// envelope fills in everything but who is reached and the place in the order.
func (s *scene) envelope(p post, d parley.Draft, where place, parent *parley.Message) (parley.Message, error) {
	m := p.body
	m.ID, m.Conversation, m.From = p.id, where.ID, s.me.ID
	m.Type, m.Priority, m.CreatedAt, m.Source = d.Type, d.Priority, s.now, p.source
	m.RequiresAck, m.IdempotencyKey, m.Task = d.RequiresAck, d.IdempotencyKey, p.task
	if parent != nil {
		if parent.Conversation != where.ID {
			return m, parley.Errorf(parley.BadInput, "message %s is in another conversation", parent.ID).
				Suggest("answer it where it is: leave the conversation out")
		}
		m.InReplyTo = parent.ID
	}
	var err error
	if m.TraceID, err = s.traceOf(p, d.TraceID, parent); err != nil {
		return m, err
	}
	if s.me.Kind == parley.KindAgent {
		m.Hops = 1 + p.hops
		switch {
		case p.request:
		case p.by != nil:
			m.Hops += p.by.Hops
		case parent != nil:
			m.Hops += parent.Hops
		}
	}
	if d.TTL > 0 {
		expires := s.now.Add(time.Duration(d.TTL) * time.Second)
		if p.expires.After(s.now) {
			expires = p.expires
		}
		m.ExpiresAt = &expires
	}
	if m.Deadline, err = s.deadline(d); err != nil {
		return m, err
	}
	m.To, err = s.addressee(d.To)
	return m, err
}

// deadline is when an answer is due: as given, or, where an ack is asked for, by the priority.
func (s *scene) deadline(d parley.Draft) (*time.Time, error) {
	if d.Deadline == nil {
		if !d.RequiresAck {
			return nil, nil
		}
		due := s.now.Add(d.Priority.Due())
		return &due, nil
	}
	due := d.Deadline.UTC().Truncate(time.Millisecond)
	if !due.After(s.now) {
		return nil, parley.Errorf(parley.BadInput, "the deadline %s has passed", due.Format(time.RFC3339)).
			Suggest("give a time that is ahead, or none")
	}
	if due.After(s.now.Add(longestDeadline)) {
		return nil, parley.Errorf(parley.BadInput, "the deadline %s is too far ahead", due.Format(time.RFC3339)).
			Suggest("give a time within ten years, or none")
	}
	return &due, nil
}

// forAll says whether a recipient is every participant of the conversation: all, or @all.
func forAll(to string) bool { return parley.Fold(strings.TrimPrefix(to, "@")) == parley.All }

// addressee resolves what a draft says in to.
func (s *scene) addressee(to string) (string, error) {
	if to == "" {
		return "", nil
	}
	if forAll(to) {
		return parley.All, nil
	}
	a, err := s.agent(to)
	switch {
	case err != nil:
		return "", err
	case a.ID == s.me.ID:
		return "", toOneself(a.ID)
	case a.Kind == parley.KindSystem:
		return "", toSystem(a.ID)
	default:
		return a.ID, nil
	}
}

func toOneself(id string) error {
	return parley.Errorf(parley.BadInput, "%s cannot write to itself", id).Suggest("name another participant")
}

func toSystem(id string) error {
	return parley.Errorf(parley.BadInput, "%s takes no messages", id).Suggest("name an agent or a person")
}

// settleArchive brings a conversation back into the lists, or, once an ephemeral one is answered,
// takes it out of them.
func (s *scene) settleArchive(where place, parent *parley.Message) error {
	// What its creator adds is a new question, even as a reply.
	answered := where.Kind == parley.Ephemeral && where.joined && parent != nil && s.me.ID != where.CreatedBy
	if answered { // a person has yet to see the answer: see archiveAnswered
		asker, err := s.Agents().Find(where.CreatedBy)
		if err != nil {
			return err
		}
		answered = asker.Kind != parley.KindHuman || asker.RemovedAt != nil
	}
	if answered == (where.ArchivedAt != nil) {
		return nil
	}
	return s.setArchived(&where.Conversation, answered)
}

// direct finds or opens the conversation of the caller and the others named.
func (s *scene) direct(names []string, ephemeral bool) (place, error) {
	ids := []string{s.me.ID}
	for _, name := range names {
		a, err := s.agent(name)
		if err != nil {
			return place{}, err
		}
		if a.Kind == parley.KindSystem {
			return place{}, toSystem(a.ID)
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 1 {
		return place{}, toOneself(s.me.ID)
	}
	c := parley.Conversation{Kind: parley.Group, Visibility: parley.Private, Set: parley.SetKey(ids)}
	switch {
	case ephemeral:
		c.Kind = parley.Ephemeral
	case len(ids) == 2:
		c.Kind = parley.DM
	}
	if ephemeral {
		return s.create(c, ids)
	}
	found, err := s.Conversations().FindSet(c.Set)
	if errors.Is(err, parley.ErrNotFound) {
		return s.create(c, ids)
	}
	return place{Conversation: found, joined: true}, err
}

package post

import (
	"cmp"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// fillEnvelope makes the message of a post, without its mentions, its recipients and its place in the order.
func fillEnvelope(u *unit.Unit, p Posting, d parley.Draft, where conversations.Place, parent *parley.Message) (parley.Message, error) {
	m := p.Body
	m.ID, m.Conversation, m.From = p.ID, where.ID, u.Me.ID
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

// IsForAll reports whether a draft is for every participant of the conversation: its recipient is all or @all.
func IsForAll(to string) bool { return parley.Fold(strings.TrimPrefix(to, "@")) == parley.All }

// addressee returns the id of the recipient that a draft names, parley.All, or nothing.
func addressee(u *unit.Unit, to string) (string, error) {
	if to == "" {
		return "", nil
	}
	if IsForAll(to) {
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

// traceOf returns the trace of a new message: the trace that its sender names, if the sender may join it; else the trace of the run or of
// the message that it replies to; else the trace of the call; else a new one.
func traceOf(u *unit.Unit, p Posting, given string, parent *parley.Message) (string, error) {
	inherited := p.Inherits
	switch {
	case inherited != "":
	case p.By != nil:
		inherited = p.By.TraceID
	case parent != nil:
		inherited = parent.TraceID
	}
	if given == "" && inherited == "" {
		given = p.Trace
	}
	given, err := names.JoinableTrace(u, given, inherited)
	return cmp.Or(given, inherited, p.ID), err
}

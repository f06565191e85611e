package post

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/trees"
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

// findParent finds the message that a draft replies to. If the draft names no conversation and no recipient, findParent addresses it
// to the sender of that message, in its conversation.
func findParent(u *unit.Unit, d *parley.Draft) (*parley.Message, error) {
	parent, where, err := conversations.Message(u, d.InReplyTo)
	if err != nil {
		return nil, err
	}
	if d.Conversation == "" && len(d.Direct) == 0 {
		d.Conversation = where.ID
		if d.To == "" && parent.From != u.Me.ID {
			d.To, err = replyRecipient(u, parent.From, where.Conversation)
		}
	}
	return &parent, err
}

// replyRecipient returns the recipient of a reply: the sender of the message, or nobody in particular if the sender was removed, is the
// hub or has left the conversation.
func replyRecipient(u *unit.Unit, sender string, where parley.Conversation) (string, error) {
	a, err := u.Agents().Find(sender)
	if err != nil || a.RemovedAt != nil || a.Kind == parley.KindSystem {
		return "", err
	}
	if in, err := conversations.TakesPart(u, where, a.ID); err != nil || !in {
		return "", err
	}
	return a.ID, nil
}

// FindDestination finds or opens the conversation that a draft goes to. The sender joins it if everybody may read it.
func FindDestination(u *unit.Unit, d parley.Draft) (conversations.Place, error) {
	if len(d.Direct) > 0 {
		return conversations.Direct(u, d.Direct, d.Ephemeral)
	}
	where, err := conversations.Conversation(u, d.Conversation)
	if _, missing := errors.AsType[unit.Unknown](err); missing && d.Make {
		return openChannel(u, d.Conversation, err)
	}
	if err != nil || where.Joined || u.Me.Kind == parley.KindSystem {
		return where, err
	}
	if !where.ReadableByAll() {
		return where, parley.Errorf(parley.NotPermitted, "%s does not take part in %s", u.Me.ID, where.Title()).
			Suggest("join it first, or write in a conversation of your own")
	}
	where.Joined = true
	return where, conversations.Join(u, where.Conversation, u.Me.ID)
}

// openChannel makes a channel for the message that is posted there. If a channel with that name is hidden from the caller, openChannel
// returns the error missing.
func openChannel(u *unit.Unit, ref string, missing error) (conversations.Place, error) {
	name := unit.ConversationKey(ref)
	if err := parley.CheckChannelName(name); err != nil {
		return conversations.Place{}, err
	}
	where, err := conversations.Create(u, parley.Conversation{Name: name, Kind: parley.Channel, Visibility: parley.Public}, []string{u.Me.ID})
	if errors.Is(err, parley.ErrTaken) {
		return conversations.Place{}, missing
	}
	where.Made, u.Opened = true, name
	return where, err
}

// mustReachMembers refuses a message in a DM whose other member lives in a directory tree and could never read it there.
func mustReachMembers(u *unit.Unit, where parley.Conversation) error {
	for _, id := range where.FixedMemberIDs() {
		if id == u.Me.ID {
			continue
		}
		a, err := u.Agents().Find(id)
		if err == nil && a.Runtime == parley.RuntimeBridge {
			err = trees.CheckReachable(u, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// updateArchived takes an archived conversation back into the lists. An ephemeral conversation that this message answers is archived
// instead, unless a person began it: the person has yet to see the answer. See work.ArchiveAnswered.
func updateArchived(u *unit.Unit, where conversations.Place, parent *parley.Message) error {
	// A reply of the creator is another question.
	answered := where.Kind == parley.Ephemeral && where.Joined && parent != nil && u.Me.ID != where.CreatedBy
	if answered {
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

package memory

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// mayShare checks whether the caller may write a note of a conversation: as for a post there. It replaces the conversation by its id.
// The caller joins a public channel, as by a post. In a conversation with fixed members, the rules for each of them count, because
// their prompts get the note.
func mayShare(u *unit.Unit, o unit.Origin, conversation *string) error {
	ref, err := inRun(u, o, *conversation)
	if err != nil {
		return err
	}
	where, err := post.FindDestination(u, parley.Draft{Conversation: ref})
	if err != nil {
		return err
	}
	*conversation = where.ID
	for _, id := range where.FixedMemberIDs() {
		if id == u.Me.ID {
			continue
		}
		target, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		v, err := policy.Rules(u, target)
		if err == nil && target.RemovedAt == nil {
			err = policy.ObeyVerdict(u, o, v, target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inRun returns a conversation, or that of the caller's run if there is none.
func inRun(u *unit.Unit, o unit.Origin, conversation string) (string, error) {
	if conversation != "" {
		return conversation, nil
	}
	if o.Caller.Run == "" {
		return "", parley.Errorf(parley.BadInput, "the call names no conversation").Suggest("name one, by its id or #name")
	}
	r, err := runs.LiveRun(u, o.Caller.Run)
	return r.Conversation, err
}

// mustHold returns unit.HeldBy if a change of a note needs an approval. A change of a conversation's memory changes what others see,
// also in the conversation that woke the caller: the note stays when the conversation has moved on. A change of the caller's own
// memory needs an approval only in strict mode, like a read.
func mustHold(u *unit.Unit, o unit.Origin, n parley.Note) error {
	if n.Scope == parley.PrivateNote {
		return policy.MustRead(u, o, "")
	}
	c, err := u.Conversations().Find(n.Conversation)
	if err != nil {
		return err
	}
	if free, err := post.AmongRelated(u, c); free || err != nil {
		return err
	}
	return policy.MustWrite(u, o, "")
}

// find returns a note by its name, if the caller may read it. Else the note is unknown.
func find(u *unit.Unit, name string) (parley.Note, error) {
	unknown := unit.Unknown{Noun: string(parley.NounNote), Name: name}
	ref, ok := parley.ParseRef(parley.NounNote, name)
	if !ok || ref.Number == 0 {
		return parley.Note{}, unknown
	}
	n, err := u.Notes().Get(parley.NounNote.ShortName(ref.Number))
	if err == nil {
		n, err = readable(u, n)
	}
	if errors.Is(err, parley.ErrNotFound) {
		return n, unknown
	}
	return n, err
}

// readable returns a note if the caller may read it, and else parley.ErrNotFound.
func readable(u *unit.Unit, n parley.Note) (parley.Note, error) {
	if u.SeesAll() || n.Scope == parley.PrivateNote && n.Agent == u.Me.ID {
		return n, nil
	}
	if n.Scope != parley.ConversationNote {
		return parley.Note{}, parley.ErrNotFound
	}
	_, err := conversations.Conversation(u, n.Conversation)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return parley.Note{}, parley.ErrNotFound
	}
	return n, err
}

// mayForget returns E001 unless the caller may erase a note that it can read.
func mayForget(u *unit.Unit, n parley.Note) error {
	if n.Author == u.Me.ID || n.Agent == u.Me.ID || u.SeesAll() {
		return nil
	}
	where, err := conversations.Conversation(u, n.Conversation)
	if err != nil || where.CreatedBy == u.Me.ID && where.Joined {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "only the author of %s, the creator of its conversation and owners may forget it", n.ID).
		Suggest("ask %s", n.Author)
}

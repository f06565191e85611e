package conversations

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Place is a conversation and the caller's part in it.
type Place struct {
	parley.Conversation
	Joined bool // whether the caller is a member
	Made   bool // whether the caller's message created the conversation
}

// Conversation finds a conversation that the caller may read. It returns unit.Unknown if there is none.
func Conversation(u *unit.Unit, ref string) (Place, error) {
	c, err := FindConversation(u, ref)
	if errors.Is(err, parley.ErrNotFound) {
		return Place{}, unit.Unknown{Noun: "conversation", Name: ref}
	}
	if err != nil {
		return Place{}, err
	}
	p, seen, err := placeOf(u, c)
	if err != nil || seen {
		return p, err
	}
	// The caller does not see the conversation of that name, so the reference may be a display name.
	if c, err = findByDisplayName(u, parley.ParseConversationRef(ref).Name); errors.Is(err, parley.ErrNotFound) {
		return Place{}, unit.Unknown{Noun: "conversation", Name: ref}
	}
	if err == nil {
		p, _, err = placeOf(u, c)
	}
	return p, err
}

// placeOf returns the caller's part in a conversation, and whether the caller may read it.
func placeOf(u *unit.Unit, c parley.Conversation) (p Place, seen bool, err error) {
	p.Conversation = c
	p.Joined, err = TakesPart(u, c, u.Me.ID)
	return p, p.Joined || c.ReadableByAll() || u.SeesAll(), err
}

// TakesPart reports whether an agent is a member of a conversation.
func TakesPart(u *unit.Unit, c parley.Conversation, id string) (bool, error) {
	if c.FixedMembers() {
		return slices.Contains(c.SetMembers(), id), nil
	}
	_, err := u.Members().Get(c.ID, id)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Message finds a message that the caller may read. It returns unit.Unknown if there is none.
func Message(u *unit.Unit, id string) (parley.Message, Place, error) {
	m, err := u.Messages().Get(id)
	if errors.Is(err, parley.ErrNotFound) {
		return m, Place{}, unit.Unknown{Noun: "message", Name: id}
	}
	if err != nil {
		return m, Place{}, err
	}
	p, err := Conversation(u, m.Conversation)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return parley.Message{}, p, unit.Unknown{Noun: "message", Name: id}
	}
	return m, p, err
}

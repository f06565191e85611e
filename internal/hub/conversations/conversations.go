// Package conversations holds conversations and their members: finding one by any of its names, making it, joining and leaving,
// read cursors.
package conversations

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new conversation.
func InsertRow(tx storage.Tx, c parley.Conversation) error {
	return tx.Conversations().Insert(c)
}

// Save stores a changed conversation.
func Save(tx storage.Tx, c parley.Conversation) error {
	return tx.Conversations().Put(c)
}

// SaveMember stores a membership and how far the member has read.
func SaveMember(tx storage.Tx, m parley.Member) error {
	return tx.Members().Put(m)
}

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
		return slices.Contains(c.FixedMemberIDs(), id), nil
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

// Join makes an agent a member that has read everything so far.
func Join(u *unit.Unit, c parley.Conversation, id string) error {
	u.Note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	return SaveMember(u.Tx, parley.Member{Conversation: c.ID, Agent: id, JoinedAt: u.Now, ReadSeq: c.LastSeq})
}

// JoinIn makes the caller a member. It does nothing if the caller is one.
func JoinIn(u *unit.Unit, p Place) error {
	if p.Joined {
		return nil
	}
	if err := CheckMembersChange(p); err != nil {
		return err
	}
	return Join(u, p.Conversation, u.Me.ID)
}

// LeaveFrom ends the membership of the caller.
func LeaveFrom(u *unit.Unit, p Place) error {
	if !p.Joined {
		return notAMember(u.Me.ID, p)
	}
	return TakeOut(u, p, u.Me.ID)
}

// TakeOut ends the membership of an agent and notes the event. It returns E003 if the agent is not a member.
func TakeOut(u *unit.Unit, p Place, id string) error {
	if err := CheckMembersChange(p); err != nil {
		return err
	}
	err := u.Members().Remove(p.ID, id)
	if errors.Is(err, parley.ErrNotFound) {
		return notAMember(id, p)
	}
	u.Note(parley.Event{Kind: parley.EventMemberLeft, Conversation: p.ID, Agent: id})
	return err
}

// CheckMembersChange returns E003 if the members of a conversation are fixed.
func CheckMembersChange(p Place) error {
	if !p.FixedMembers() {
		return nil
	}
	return parley.Errorf(parley.BadInput, "the members of a %s are fixed", p.Kind).Suggest("use a channel")
}

// EverywhereAlready returns the error for adding the hub itself to a conversation.
func EverywhereAlready(id string) error {
	return parley.Errorf(parley.BadInput, "%s is in every conversation already", id).Suggest("name an agent or a person")
}

// notAMember returns the error for an agent that is not a member.
func notAMember(id string, p Place) error {
	return parley.Errorf(parley.BadInput, "%s does not take part in %s", id, p.Title()).Suggest("list its members with parley conv show")
}

// MaxUnread is the highest count of unread messages.
const MaxUnread = 10_000

// See returns a conversation with its members and the caller's unread messages.
func See(u *unit.Unit, c parley.Conversation) (parley.ConversationView, error) {
	view := parley.ConversationView{Conversation: c}
	members, err := u.Members().List(c.ID)
	for _, m := range members {
		view.Members = append(view.Members, m.Agent)
		if m.Agent == u.Me.ID && err == nil {
			view.Joined, view.ReadSeq = true, m.ReadSeq
			view.Unread, err = u.Members().Unread(m, MaxUnread)
		}
	}
	return view, err
}

// MoveCursor stores how far a member has read, and notes the event.
func MoveCursor(u *unit.Unit, m parley.Member) error {
	data, err := json.Marshal(map[string]int64{"read_seq": m.ReadSeq})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventCursorMoved, Conversation: m.Conversation, Agent: m.Agent, Data: data})
	return SaveMember(u.Tx, m)
}

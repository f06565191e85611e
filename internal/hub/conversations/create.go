package conversations

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// CheckNewConversation returns the request with the name and the display name that the conversation will have, or E003 if it
// is not valid.
func CheckNewConversation(n parley.NewConversation) (parley.NewConversation, error) {
	var err error
	if n.Name == "" || n.DisplayName == "" {
		n.Name, n.DisplayName, err = parley.ConversationName(n.Name + n.DisplayName)
	} else if err = parley.CheckChannelName(n.Name); err == nil {
		n.DisplayName, err = parley.ConversationDisplay(n.Name, n.DisplayName)
	}
	if err := errors.Join(err, parley.CheckTopic(n.Topic), n.Answers.Check()); err != nil {
		return n, parley.AsError(err)
	}
	if len(n.With) > unit.MaxWith {
		return n, parley.Errorf(parley.BadInput, "the conversation would have %d participants, the limit is %d", len(n.With), unit.MaxWith).
			Because(parley.TooLarge).Suggest("add the others afterwards")
	}
	return n, nil
}

// Invited returns the ids of the caller and of the participants with some names, each once.
func Invited(u *unit.Unit, names []string) ([]string, error) {
	ids := []string{u.Me.ID}
	for _, name := range names {
		a, err := agents.Agent(u, name)
		if err != nil {
			return nil, err
		}
		if a.Kind == parley.KindSystem {
			return nil, EverywhereAlready(a.ID)
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}

// NewConversation returns the conversation that a request describes.
func NewConversation(n parley.NewConversation) parley.Conversation {
	c := parley.Conversation{
		Name: n.Name, DisplayName: n.DisplayName, Topic: n.Topic, Kind: parley.Channel, Visibility: parley.Public, Answers: n.Answers.Stored(),
	}
	if n.Group {
		c.Kind = parley.Group
	}
	if n.Group || n.Private {
		c.Visibility = parley.Private
	}
	return c
}

// BroadcastChannel is the name of the channel for messages to everybody.
const BroadcastChannel = "broadcast"

// Create stores a conversation with its first members, which include the caller. Nobody can create the channel for
// broadcasts, because its creator would read every broadcast.
func Create(u *unit.Unit, c parley.Conversation, ids []string) (Place, error) {
	if c.Name == BroadcastChannel {
		return Place{}, NameTaken(c.Name)
	}
	return CreateNamed(u, c, ids)
}

// CreateNamed is Create for any name, the channel for broadcasts included.
func CreateNamed(u *unit.Unit, c parley.Conversation, ids []string) (Place, error) {
	if err := access.MayCreate(u, c.Kind); err != nil {
		return Place{}, err
	}
	c.ID, c.CreatedBy, c.CreatedAt, c.UpdatedAt = unit.NewID(), u.Me.ID, u.Now, u.Now
	if c.Name != "" {
		var err error
		if c.NameRank, err = freeRank(u, c.Name, c.ID); err != nil {
			return Place{}, err
		}
	}
	if err := InsertRow(u.Tx, c); err != nil {
		return Place{}, err
	}
	u.Note(parley.Event{Kind: parley.EventConversationCreated, Conversation: c.ID})
	for _, id := range ids {
		m := parley.Member{Conversation: c.ID, Agent: id, JoinedAt: u.Now}
		if err := SaveMember(u.Tx, m); err != nil {
			return Place{}, err
		}
		u.Note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	}
	return Place{Conversation: c, Joined: true}, nil
}

// ToOneself returns the error for a message to the sender itself.
func ToOneself(id string) error {
	return parley.Errorf(parley.BadInput, "%s cannot write to itself", id).Suggest("name another participant")
}

// ToSystem returns the error for a message to the hub itself.
func ToSystem(id string) error {
	return parley.Errorf(parley.BadInput, "%s cannot receive messages", id).Suggest("name an agent or a person")
}

// Direct returns the conversation of the caller and some participants, and creates it if there is none. An ephemeral one is
// always new.
func Direct(u *unit.Unit, names []string, ephemeral bool) (Place, error) {
	ids := []string{u.Me.ID}
	for _, name := range names {
		a, err := agents.Agent(u, name)
		if err != nil {
			return Place{}, err
		}
		if a.Kind == parley.KindSystem {
			return Place{}, ToSystem(a.ID)
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 1 {
		return Place{}, ToOneself(u.Me.ID)
	}
	c := parley.Conversation{Kind: parley.Group, Visibility: parley.Private, Set: parley.MemberSetKey(ids)}
	switch {
	case ephemeral:
		c.Kind = parley.Ephemeral
	case len(ids) == 2:
		c.Kind = parley.DM
	}
	if ephemeral {
		return Create(u, c, ids)
	}
	found, err := u.Conversations().FindSet(c.Set)
	if errors.Is(err, parley.ErrNotFound) {
		return Create(u, c, ids)
	}
	return Place{Conversation: found, Joined: true}, err
}

// Dm returns the DM of two participants, and creates it if there is none.
func Dm(u *unit.Unit, a, b string) (parley.Conversation, error) {
	set := parley.MemberSetKey([]string{a, b})
	c, err := u.Conversations().FindSet(set)
	if !errors.Is(err, parley.ErrNotFound) {
		return c, err
	}
	p, err := Create(u, parley.Conversation{Kind: parley.DM, Visibility: parley.Private, Set: set}, []string{a, b})
	return p.Conversation, err
}

package hub

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// Join makes the caller a member of a public channel; an owner may join any channel or named group.
func (h *Hub) Join(ctx context.Context, caller Caller, ref string) error {
	_, err := h.actOn(ctx, caller, opJoin, conversationArgs{Conversation: ref, Act: joinsConversation})
	return err
}

func (s *scene) joinIn(p place) error {
	if p.joined {
		return nil
	}
	if err := membersChange(p); err != nil {
		return err
	}
	return s.join(p.Conversation, s.me.ID)
}

// Leave takes the caller out of a conversation.
func (h *Hub) Leave(ctx context.Context, caller Caller, ref string) error {
	_, err := h.actOn(ctx, caller, opLeave, conversationArgs{Conversation: ref, Act: leavesConversation})
	return err
}

func (s *scene) leaveFrom(p place) error {
	if !p.joined {
		return notAMember(s.me.ID, p)
	}
	return s.takeOut(p, s.me.ID)
}

// AddMember makes somebody else a member, by the same rules as a contact. Any member may, and for a public channel
// anybody.
func (h *Hub) AddMember(ctx context.Context, caller Caller, ref, name string) error {
	_, err := h.actOn(ctx, caller, opAddMember, conversationArgs{Conversation: ref, Act: addsMember, Agent: name})
	return err
}

// addMember puts the id of the new member in place of its name.
func (s *scene) addMember(o origin, p place, name *string) error {
	if err := membersChange(p); err != nil {
		return err
	}
	a, err := s.agent(*name)
	if err != nil {
		return err
	}
	*name = a.ID
	if a.Kind == parley.KindSystem {
		return everywhereAlready(a.ID)
	}
	if _, err := s.Members().Get(p.ID, a.ID); !errors.Is(err, parley.ErrNotFound) {
		return err // there already, or the store failed
	}
	if err := s.mustBeOnlyName(p); err != nil {
		return err
	}
	if err := s.mayAdd(o, a.ID); err != nil {
		return err
	}
	return s.join(p.Conversation, a.ID)
}

// RemoveMember takes somebody else out. Its creator and owners may.
func (h *Hub) RemoveMember(ctx context.Context, caller Caller, ref, name string) error {
	_, err := h.actOn(ctx, caller, opRemoveMember, conversationArgs{Conversation: ref, Act: removesMember, Agent: name})
	return err
}

// removeMember puts the id of the member in place of its name.
func (s *scene) removeMember(p place, name *string) error {
	if err := s.resolve(name); err != nil {
		return err
	}
	id := *name
	if id != s.me.ID {
		if err := s.mustRun(p, "remove members"); err != nil {
			return err
		}
	}
	return s.takeOut(p, id)
}

func (s *scene) takeOut(p place, id string) error {
	if err := membersChange(p); err != nil {
		return err
	}
	err := s.Members().Remove(p.ID, id)
	if errors.Is(err, parley.ErrNotFound) {
		return notAMember(id, p)
	}
	s.note(parley.Event{Kind: parley.EventMemberLeft, Conversation: p.ID, Agent: id})
	return err
}

func membersChange(p place) error {
	if !p.FixedMembers() {
		return nil
	}
	return parley.Errorf(parley.BadInput, "the members of a %s are fixed", p.Kind).Suggest("use a channel")
}

func everywhereAlready(id string) error {
	return parley.Errorf(parley.BadInput, "%s is in every conversation already", id).Suggest("name an agent or a person")
}

func notAMember(id string, p place) error {
	return parley.Errorf(parley.BadInput, "%s does not take part in %s", id, p.Title()).Suggest("see who its members are")
}

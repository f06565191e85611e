package channels

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Join makes the caller a member of a public channel. An owner may join any channel or named group.
func (s *Service) Join(ctx context.Context, caller unit.Caller, ref string) error {
	_, err := changeOrHold(ctx, s.Core, caller, unit.OpJoin, policy.ConversationArgs{Conversation: ref, Act: policy.JoinsConversation})
	return err
}

// Leave removes the caller from a conversation.
func (s *Service) Leave(ctx context.Context, caller unit.Caller, ref string) error {
	_, err := changeOrHold(ctx, s.Core, caller, unit.OpLeave, policy.ConversationArgs{Conversation: ref, Act: policy.LeavesConversation})
	return err
}

// AddMember makes another participant a member, by the same rules as a contact. Every member may call it. Everybody may add
// members to a public channel.
func (s *Service) AddMember(ctx context.Context, caller unit.Caller, ref, name string) error {
	_, err := changeOrHold(ctx, s.Core, caller, unit.OpAddMember, policy.ConversationArgs{Conversation: ref, Act: policy.AddsMember, Agent: name})
	return err
}

// addMember replaces the name by the id of the new member.
func addMember(u *unit.Unit, o unit.Origin, p conversations.Place, name *string) error {
	if err := conversations.CheckMembersChange(p); err != nil {
		return err
	}
	a, err := agents.Agent(u, *name)
	if err != nil {
		return err
	}
	*name = a.ID
	if a.Kind == parley.KindSystem {
		return conversations.EverywhereAlready(a.ID)
	}
	if _, err := u.Members().Get(p.ID, a.ID); !errors.Is(err, parley.ErrNotFound) {
		return err // a member already, or the store has failed
	}
	if err := conversations.MustBeOnlyName(u, p); err != nil {
		return err
	}
	if err := policy.MayAdd(u, o, a.ID); err != nil {
		return err
	}
	return conversations.Join(u, p.Conversation, a.ID)
}

// RemoveMember removes another participant from a conversation. The creator and owners may call it.
func (s *Service) RemoveMember(ctx context.Context, caller unit.Caller, ref, name string) error {
	_, err := changeOrHold(ctx, s.Core, caller, unit.OpRemoveMember, policy.ConversationArgs{Conversation: ref, Act: policy.RemovesMember, Agent: name})
	return err
}

// removeMember replaces the name by the id of the member.
func removeMember(u *unit.Unit, p conversations.Place, name *string) error {
	if err := tasks.Resolve(u, name); err != nil {
		return err
	}
	id := *name
	if id != u.Me.ID {
		if err := conversations.MustBeCreator(u, p, "remove members"); err != nil {
			return err
		}
	}
	return conversations.TakeOut(u, p, id)
}

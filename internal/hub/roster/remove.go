package roster

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/memory"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// RemoveAgent removes a participant. It leaves its channels and groups, its tokens are revoked, open deliveries to it fail, and
// its private notes are erased.
// Its names stay reserved until an owner reuses them for a new agent. Only an owner may call it. A participant that a bridge
// lists cannot be removed.
func (s *Service) RemoveAgent(ctx context.Context, caller unit.Caller, name string) error {
	err := s.Update(ctx, caller, unit.OpRemoveAgent, func(u *unit.Unit) error {
		a, err := agents.Agent(u, name)
		if err != nil {
			return err
		}
		if a.ID == parley.Owner || a.Kind == parley.KindSystem {
			return parley.Errorf(parley.NotPermitted, "%s cannot be removed", a.ID).Suggest("every hub needs this participant")
		}
		if err := trees.CheckNotListed(u, a.ID); err != nil {
			return err
		}
		a.RemovedAt, a.UpdatedAt = &u.Now, u.Now
		if err := leaveConversations(u, a.ID); err != nil {
			return err
		}
		if err := clearManager(u, a.ID); err != nil {
			return err
		}
		if err := access.RevokeAll(u, a.ID); err != nil {
			return err
		}
		if err := agents.Save(u.Tx, a); err != nil {
			return err
		}
		live, err := u.Runs().Live(a.ID)
		if err == nil {
			err = turns.EndCancelledRuns(u, live, a.ID+" was removed")
		}
		if err == nil {
			err = work.WithdrawApprovalsOf(u, a)
		}
		if err == nil {
			err = work.EndTasksOf(u, a)
		}
		if err != nil {
			return err
		}
		if err := work.FreeWaitsOf(u, a); err != nil {
			return err
		}
		if err := memory.EraseOf(u, a.ID); err != nil {
			return err
		}
		u.Wake(a.ID) // so that its waiting calls end
		u.Note(parley.Event{Kind: parley.EventAgentRemoved, Agent: a.ID})
		return access.Audit(u, "agent.remove", a.ID, nil)
	})
	if err != nil {
		return err
	}
	// The agent is removed, whatever happens now. The next sweep fails what this call leaves.
	if err := turns.FailOrphanedDeliveries(context.WithoutCancel(ctx), s.Core); err != nil {
		s.Config.Log.Error("cannot fail the deliveries to a removed agent; the next sweep retries", "agent", name, "error", err)
	}
	return nil
}

func leaveConversations(u *unit.Unit, id string) error {
	kinds := []parley.ConversationKind{parley.Channel, parley.Group}
	for _, archived := range []bool{false, true} {
		filter := storage.ConversationFilter{Member: id, Kinds: kinds, Archived: archived, Limit: 1 << 30}
		list, err := u.Conversations().List(filter)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.FixedMembers() {
				continue
			}
			if err := conversations.TakeOut(u, conversations.Place{Conversation: c}, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearManager removes the manager from the agents that it managed.
func clearManager(u *unit.Unit, id string) error {
	list, err := u.Agents().List()
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.Manager != id {
			continue
		}
		a.Manager, a.UpdatedAt = "", u.Now
		if err := agents.Save(u.Tx, a); err != nil {
			return err
		}
		u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
		if err := holding.ReassignApprovals(u, a.ID); err != nil {
			return err
		}
	}
	return nil
}

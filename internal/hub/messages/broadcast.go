package messages

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// BroadcastChannel returns the channel of messages to all agents, and makes it if it is missing. It is private: its readers are the agents
// that got such a message.
func BroadcastChannel(u *unit.Unit) (parley.Conversation, error) {
	c, err := u.Conversations().Find(conversations.BroadcastChannel)
	if errors.Is(err, parley.ErrNotFound) {
		made, err := conversations.CreateNamed(u, parley.Conversation{Name: conversations.BroadcastChannel, Kind: parley.Channel, Visibility: parley.Private}, []string{u.Me.ID})
		return made.Conversation, err
	}
	if err != nil {
		return c, err
	}
	return c, JoinOnce(u, c, u.Me.ID)
}

// JoinOnce adds a participant to a conversation that it is not in.
func JoinOnce(u *unit.Unit, c parley.Conversation, id string) error {
	in, err := conversations.TakesPart(u, c, id)
	if err != nil || in {
		return err
	}
	return conversations.Join(u, c, id)
}

// ReachedNobody says why a message to all agents has no recipient.
func ReachedNobody(u *unit.Unit, tier parley.Tier, barred []string) string {
	switch {
	case len(barred) > 0:
		return fmt.Sprintf("the message reached nobody: %s may not contact %s (to see why: parley permit check %s %s)", u.Me.ID, unit.Listed(barred), u.Me.ID, barred[0])
	case tier != "":
		return fmt.Sprintf("the message reached nobody: no other agent has the tier %s (parley agent set AGENT --tier %s)", tier, tier)
	default:
		return "the message reached nobody: there is no other agent"
	}
}

// InboxIsFull reports whether the inbox of an agent has no room for another message that wakes it.
func InboxIsFull(u *unit.Unit, a parley.Agent) (bool, error) {
	inbox, err := u.Queue().Inbox(a.ID)
	return a.InboxOverflow != parley.OverflowUnbounded && inbox.Waking >= a.InboxDepth, err
}

// WithoutTreeReaders removes from the recipients the agents of a directory tree in which the message lies as a file that they read.
func WithoutTreeReaders(u *unit.Unit, tree *parley.Bridge, to []parley.NewDelivery) (_ []parley.NewDelivery, err error) {
	if tree == nil || tree.Layout != parley.LayoutAgentOS {
		return to, nil
	}
	return slices.DeleteFunc(to, func(r parley.NewDelivery) bool {
		_, lives, failed := trees.LivesIn(u, *tree, r.Agent)
		err = errors.Join(err, failed)
		return lives
	}), err
}

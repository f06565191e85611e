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

// Broadcasts finds the channel for what is for everybody, or makes it. It is private: those read it who were told
// something there.
func Broadcasts(u *unit.Unit) (parley.Conversation, error) {
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

func JoinOnce(u *unit.Unit, c parley.Conversation, id string) error {
	in, err := conversations.TakesPart(u, c, id)
	if err != nil || in {
		return err
	}
	return conversations.Join(u, c, id)
}

// ReachedNobody says why what is for everybody is told to nobody.
func ReachedNobody(u *unit.Unit, tier parley.Tier, barred []string) string {
	switch {
	case len(barred) > 0:
		return fmt.Sprintf("it reached nobody: %s may not contact %s (to see why: parley permit check %s %s)", u.Me.ID, unit.Listed(barred), u.Me.ID, barred[0])
	case tier != "":
		return fmt.Sprintf("it reached nobody: no other agent is of the tier %s (parley agent set AGENT --tier %s)", tier, tier)
	default:
		return "it reached nobody: there is no other agent"
	}
}

func InboxIsFull(u *unit.Unit, a parley.Agent) (bool, error) {
	inbox, err := u.Queue().Inbox(a.ID)
	return a.InboxOverflow != parley.OverflowUnbounded && inbox.Waking >= a.InboxDepth, err
}

// WithoutTree leaves out those whom a message reaches by its file: who lives in the tree whose channel it was found in.
func WithoutTree(u *unit.Unit, tree *parley.Bridge, to []parley.Reach) (_ []parley.Reach, err error) {
	if tree == nil || tree.Layout != parley.LayoutAgentOS {
		return to, nil
	}
	return slices.DeleteFunc(to, func(r parley.Reach) bool {
		_, lives, failed := trees.LivesIn(u, *tree, r.Agent)
		err = errors.Join(err, failed)
		return lives
	}), err
}

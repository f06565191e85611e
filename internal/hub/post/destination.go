package post

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// mustReachMembers refuses a post in a conversation of two whose other member could never read it. An answer is for whoever has
// written there, and a command for the hub.
func mustReachMembers(u *unit.Unit, where parley.Conversation, p Posting) error {
	if p.runAnswer || p.command != nil || where.Kind != parley.DM && where.Kind != parley.Ephemeral {
		return nil
	}
	for _, id := range where.SetMembers() {
		if id == u.Me.ID {
			continue
		}
		a, err := u.Agents().Find(id)
		if err == nil {
			err = trees.MustReach(u, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

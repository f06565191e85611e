package conversations

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Dm finds or opens the DM of two participants.
func Dm(u *unit.Unit, a, b string) (parley.Conversation, error) {
	set := parley.SetKey([]string{a, b})
	c, err := u.Conversations().FindSet(set)
	if !errors.Is(err, parley.ErrNotFound) {
		return c, err
	}
	p, err := Create(u, parley.Conversation{Kind: parley.DM, Visibility: parley.Private, Set: set}, []string{a, b})
	return p.Conversation, err
}

package conversations

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

func ToOneself(id string) error {
	return parley.Errorf(parley.BadInput, "%s cannot write to itself", id).Suggest("name another participant")
}

func ToSystem(id string) error {
	return parley.Errorf(parley.BadInput, "%s takes no messages", id).Suggest("name an agent or a person")
}

// Direct finds or opens the conversation of the caller and the others named.
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
	c := parley.Conversation{Kind: parley.Group, Visibility: parley.Private, Set: parley.SetKey(ids)}
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

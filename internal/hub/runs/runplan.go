package runs

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Chain is how many automatic messages in a row have led to one.
func Chain(u *unit.Unit, m parley.Message) (int, error) {
	by, err := u.Runs().PostedBy(m.ID)
	switch {
	case err == nil:
		return by.Chain + 1, nil
	case errors.Is(err, parley.ErrNotFound):
		return m.Hops, nil // a person's has none
	default:
		return 0, err
	}
}

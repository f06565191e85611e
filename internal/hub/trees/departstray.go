package trees

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MayCome says whether a message is written into the channels of a tree, or may yet be.
func MayCome(u *unit.Unit, b parley.Bridge, message string, seq int64) (bool, error) {
	_, err := u.Bridges().Departure(b.ID, message, "")
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	cursor, err := u.Bridges().Cursor(b.ID)
	return cursor < seq, err
}

package reports

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SourceResult is the source of the messages by which requesters learn how what they delegated has ended.
const SourceResult = "delegation_result"

// HopsTo is how many automatic messages in a row have led to a task.
func HopsTo(u *unit.Unit, t parley.Task) (int, error) {
	m, err := u.Messages().Get(t.Message)
	if t.Message == "" || errors.Is(err, parley.ErrNotFound) {
		return 0, nil
	}
	return m.Hops, err
}

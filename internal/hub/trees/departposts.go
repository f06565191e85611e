package trees

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// BelongsTo is the task that a message belongs to.
func BelongsTo(u *unit.Unit, m parley.Message) (t parley.Task, found bool, err error) {
	if m.Task == "" {
		return t, false, nil
	}
	t, err = u.Tasks().Get(m.Task)
	return t, err == nil, unit.IgnoreNotFound(err)
}

package reports

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// GivenFor is the task that a run of the delivery was given.
func GivenFor(u *unit.Unit, d parley.Delivery) (task string, err error) {
	runs, err := u.Runs().WokenBy(d.Message, d.Recipient)
	for _, r := range runs {
		if r.Task != "" {
			task = r.Task
		}
	}
	return task, err
}

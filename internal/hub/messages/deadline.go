package messages

import (
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// longestDeadline keeps a date from being too far ahead to be written down.
const longestDeadline = 10 * 365 * 24 * time.Hour

// Deadline is when an answer is due: as given, or, where an ack is asked for, by the priority.
func Deadline(u *unit.Unit, d parley.Draft) (*time.Time, error) {
	if d.Deadline == nil {
		if !d.RequiresAck {
			return nil, nil
		}
		due := u.Now.Add(d.Priority.Due())
		return &due, nil
	}
	due := d.Deadline.UTC().Truncate(time.Millisecond)
	if !due.After(u.Now) {
		return nil, parley.Errorf(parley.BadInput, "the deadline %s has passed", due.Format(time.RFC3339)).
			Suggest("give a time that is ahead, or none")
	}
	if due.After(u.Now.Add(longestDeadline)) {
		return nil, parley.Errorf(parley.BadInput, "the deadline %s is too far ahead", due.Format(time.RFC3339)).
			Suggest("give a time within ten years, or none")
	}
	return &due, nil
}

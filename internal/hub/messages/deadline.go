package messages

import (
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// longestDeadline bounds deadlines, so that each can be written down.
const longestDeadline = 10 * 365 * 24 * time.Hour

// Deadline returns when the answer to a draft is due: as given or, if the sender requires an ack, by its priority. nil if there is no
// deadline.
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

package arrivals

import (
	"bytes"

	"github.com/parley-hub/parley/internal/hub/trees"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// broadcastBefore says whether what is for everybody has come by another of its files: scripts write one for each. What was
// only copied in for somebody has been told to nobody.
func broadcastBefore(u *unit.Unit, b parley.Bridge, l *Landing) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().Named(b.ID, l.Name, l.From)
	if err != nil || row.Message == "" {
		return first, false, unit.IgnoreNotFound(err)
	}
	if said, err := saysTheSame(u, row.Message, l); err != nil || !said {
		return first, false, err
	}
	if !l.History {
		told, err := u.Deliveries().Of(row.Message)
		if err != nil || len(told) == 0 {
			return first, false, err
		}
	}
	if err := trees.Arrived(u.Tx, l.row(b.ID, row.Message, u.Now)); err != nil {
		return first, false, err
	}
	return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
}

// saysTheSame says whether a document says what a message does. Names may come again.
func saysTheSame(u *unit.Unit, message string, l *Landing) (bool, error) {
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	body := l.Post.Body
	return m.RedactedAt != nil || m.Content.Text == body.Content.Text && bytes.Equal(m.Payload, body.Payload), nil
}

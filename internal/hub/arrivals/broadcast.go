package arrivals

import (
	"bytes"

	"github.com/parley-hub/parley/internal/hub/trees"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// broadcastBefore finds the message of a broadcast that arrived before in another file: scripts write one file for each
// recipient. A message without deliveries does not count, because nobody was told.
func broadcastBefore(u *unit.Unit, b parley.Bridge, l *Document) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().FileNamed(b.ID, l.Name, l.From)
	if err != nil || row.Message == "" {
		return first, false, unit.IgnoreNotFound(err)
	}
	if said, err := saysTheSame(u, row.Message, l); err != nil || !said {
		return first, false, err
	}
	if !l.History {
		told, err := u.Deliveries().OfMessage(row.Message)
		if err != nil || len(told) == 0 {
			return first, false, err
		}
	}
	if err := trees.Arrived(u.Tx, l.row(b.ID, row.Message, u.Now)); err != nil {
		return first, false, err
	}
	return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
}

// saysTheSame reports whether a document has the text and payload of a message. Ids alone do not tell, because formats reuse
// them.
func saysTheSame(u *unit.Unit, message string, l *Document) (bool, error) {
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	body := l.Posting.Body
	return m.RedactedAt != nil || m.Content.Text == body.Content.Text && bytes.Equal(m.Payload, body.Payload), nil
}

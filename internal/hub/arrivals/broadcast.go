package arrivals

import (
	"bytes"

	"github.com/parley-hub/parley/internal/hub/trees"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// findEarlierBroadcast finds the message of a broadcast that arrived before in another file, because scripts write one file for
// each recipient. A message without deliveries does not count, because it reached nobody. known is false if there is no such
// message.
func findEarlierBroadcast(u *unit.Unit, b parley.Bridge, doc *Document) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().FileNamed(b.ID, doc.Name, doc.From)
	if err != nil || row.Message == "" {
		return first, false, unit.IgnoreNotFound(err)
	}
	if same, err := hasSameBody(u, row.Message, doc); err != nil || !same {
		return first, false, err
	}
	if !doc.History {
		existing, err := u.Deliveries().OfMessage(row.Message)
		if err != nil || len(existing) == 0 {
			return first, false, err
		}
	}
	if err := trees.SaveFile(u.Tx, doc.row(b.ID, row.Message, u.Now)); err != nil {
		return first, false, err
	}
	return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
}

// hasSameBody reports whether a document has the text and payload of a message. Equal ids are not enough, because formats reuse
// ids.
func hasSameBody(u *unit.Unit, message string, doc *Document) (bool, error) {
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	body := doc.Posting.Body
	return m.RedactedAt != nil || m.Content.Text == body.Content.Text && bytes.Equal(m.Payload, body.Payload), nil
}

package hub_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// learn finds the messages that the hub has sent by itself, and compares them with those of the model.
func (x *deliveryMachine) learn(t *rapid.T) {
	t.Helper()
	var list []parley.Message
	x.w.NoError(x.w.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Messages().Scan(x.seq, 10_000)
		return err
	}))
	for _, m := range list {
		x.seq = m.Seq
		if m.From != parley.System {
			continue
		}
		var payload struct {
			Message, Recipient string
			State              parley.DeliveryState
			Final              bool
		}
		x.w.NoError(json.Unmarshal(m.Payload, &payload))
		about := aboutOf(payload.Message, payload.Recipient, payload.State, payload.Final)
		i := slices.IndexFunc(x.model.notices, func(s *sent) bool { return s.to == m.To && s.about == about })
		if i < 0 {
			t.Fatalf("%s was told: %s (%s)", m.To, about, m.Content.Text)
		}
		s := x.model.notices[i]
		x.model.notices = slices.Delete(x.model.notices, i, i+1)
		s.id, s.seq = m.ID, m.Seq
		x.model.keep(s)
	}
	for _, s := range x.model.notices {
		t.Fatalf("%s was not told: %s", s.to, s.about)
	}
}

// compare compares every delivery and every inbox.
func (x *deliveryMachine) compare(t *rapid.T) {
	got, want := map[string]any{}, map[string]any{}
	x.w.NoError(x.w.Store.View(ctx, func(tx storage.Tx) error {
		for _, s := range x.model.sent {
			d, err := tx.Deliveries().Get(s.id, s.to)
			if err != nil {
				return err
			}
			answer := ""
			if s.answer != nil {
				answer = s.answer.id
			}
			want[s.id] = []any{s.now, !s.quiet, s.purpose, s.from, answer}
			got[s.id] = []any{
				standing{d.State, d.Attempt, d.Lease, d.Until, d.Overdue, d.Late, d.PairSeq}, d.Waking, d.Purpose, d.From, d.Answer,
			}
		}
		for id := range x.model.parts {
			inbox, err := tx.Queue().Inbox(id)
			if err != nil {
				return err
			}
			got["inbox of "+id], want["inbox of "+id] = inbox, x.model.inbox(id)
		}
		return nil
	}))
	same(t, "deliveries", got, want)
}

// TestDeliveriesMatchTheModel compares random histories of deliveries with the model.
func TestDeliveriesMatchTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		x := newDeliveryMachine(rt, stores.NewPlace(t))
		x.clocks()
		rt.Repeat(x.actions())
		x.w.AssertConsistent()
	})
}

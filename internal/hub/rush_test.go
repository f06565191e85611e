package hub_test

import (
	"sync"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestManyTakersGetEachDeliveryOnce has 16 consumers empty one inbox, each in its own way.
func TestManyTakersGetEachDeliveryOnce(t *testing.T) {
	t.Parallel()
	const takers, deliveries = 16, 2000
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1} })
	w.AddAgents("ned")
	w.SetInboxDepth("ned", deliveries, parley.OverflowReject)
	fill(w, w.SendDM("ned", "user", "ready").Message, deliveries)
	var (
		mu    sync.Mutex
		times = map[string]int{}
	)
	inParallel(takers, func(n int) {
		for {
			taken := w.TakeAs("ned", parley.Take{Limit: 20 + n, Urgent: n%4 < 2, AtMostOnce: n%2 == 1})
			if len(taken.Deliveries) == 0 {
				return
			}
			mu.Lock()
			for _, d := range taken.Deliveries {
				times[d.Message]++
			}
			mu.Unlock()
			if taken.Lease != "" {
				_, err := w.Settle(ctx, as("ned"), taken.Lease, parley.Outcome{})
				w.NoError(err)
			}
		}
	})
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s was taken %d times", id, n)
		}
	}
	same(t, "taken", len(times), deliveries)
	same(t, "left", w.InboxOf("ned"), parley.Inbox{})
}

// fill inserts messages directly into the inbox of the sender of another message, because posting them would take far longer.
func fill(w *fixture, answered parley.Message, n int) {
	w.T.Helper()
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) (err error) {
		for range n {
			m := answered
			m.ID, m.From, m.To = uuid.NewString(), "user", "ned"
			if m.Seq, err = tx.Messages().NextSeq(); err != nil {
				return err
			}
			m.Checksum = m.Seal(m.BodyDigest())
			if err := tx.Messages().Insert(m); err != nil {
				return err
			}
			if _, err := tx.Deliveries().Insert(m, []parley.NewDelivery{{Agent: "ned", Wakes: true}}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func inParallel(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}

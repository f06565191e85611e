package hub_test

import (
	"context"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// probed is a store on a disk that the test fills. Small changes still find space on the disk.
type probed struct {
	*fullStore
	free int64
}

func (p *probed) Space() (free, total int64, err error) { return p.free, 100 * gib, nil }

func (p *probed) Probe(ctx context.Context) error {
	return p.Update(ctx, func(storage.Tx) error { return nil })
}

// TestEachReasonNotToBeReady: the status says why nothing can be stored, and those who are no owners learn no path.
func TestEachReasonNotToBeReady(t *testing.T) {
	t.Parallel()
	const most = 100 * gib
	for name, c := range map[string]struct {
		free      int64
		full      bool
		recovered bool
		want      []parley.NotReady
	}{
		"ready":                 {free: most, recovered: true},
		"a disk with some room": {free: 1 << 20, recovered: true},
		"a disk that is full":   {0, true, true, []parley.NotReady{{Check: "disk", Message: "the disk is full", Suggestion: "see the log of the hub"}}},
		"room for a small change": {0, false, true, []parley.NotReady{{
			Check: "disk", Message: "the disk is full: 0 bytes are free", Suggestion: "free space on the disk of the hub",
		}}},
		"it has not put back what its former process had": {0, true, false, []parley.NotReady{{
			Check: "disk", Message: "the disk is full", Suggestion: "see the log of the hub",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &probed{fullStore: &fullStore{}, free: c.free}
			w := newHub(t, func(w *fixture) {
				w.WrapStore = func(s storage.Store) storage.Store { store.Store = s; return store }
			})
			w.AddAgents("arya", "ned")
			w.SendDM("arya", "ned", "hello")
			w.TakeAs("ned", parley.Take{})
			store.full.Store(c.full)
			if !c.recovered && w.Recover(ctx) == nil {
				t.Fatal("it has recovered")
			}
			same(t, "reasons", w.Readiness(ctx), c.want)
			same(t, "status", resultOf[parley.HubStatus](w)(w.Status(ctx, user)).NotReady, c.want)
			public := resultOf[parley.HubStatus](w)(w.Status(ctx, as("arya"))).NotReady
			for _, n := range public {
				same(t, "in public", n, parley.NotReady{Check: "disk", Message: "its disk is full", Suggestion: "see its log, or try: parley doctor"})
			}
		})
	}
	t.Run("a store that is damaged", func(t *testing.T) {
		t.Parallel()
		w := newHub(t)
		w.WrapStore = func(s storage.Store) storage.Store { return unwritable{s} }
		w.Restart()
		same(t, "reasons", w.Readiness(ctx), []parley.NotReady{{Check: "store", Message: "the database is damaged", Suggestion: "see the log of the hub"}})
	})
}

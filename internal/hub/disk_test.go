package hub_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

const gib = 1 << 30

// disk is a store on a disk that the test fills.
type disk struct {
	storage.Store
	free, total *atomic.Int64
	err         *error
}

func (d disk) Space() (int64, int64, error) { return d.free.Load(), d.total.Load(), *d.err }

func onDisk(t *testing.T, total int64) (w *fixture, d disk, lines *strings.Builder) {
	t.Helper()
	lines = &strings.Builder{}
	d = disk{free: &atomic.Int64{}, total: &atomic.Int64{}, err: new(error)}
	d.total.Store(total)
	d.free.Store(total)
	w = newHub(t, func(w *fixture) {
		w.Config.Log = slog.New(slog.NewTextHandler(lines, nil))
		w.WrapStore = func(s storage.Store) storage.Store {
			d.Store = s
			return d
		}
	})
	return w, d, lines
}

// alertsOfSweep makes a sweep, and returns the data of its events.
func (w *fixture) alertsOfSweep() (data []string) {
	w.T.Helper()
	before := w.LastEventNumber()
	w.sweepEverything()
	for _, e := range follow(w.T, w.Hub, user, before, w.LastEventNumber()) {
		same(w.T, "kind", e.Kind, parley.EventAlert)
		data = append(data, string(e.Data))
	}
	return data
}

func TestDiskAlertGoesOnAndOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ total, least int64 }{
		"a small disk": {10 * gib, gib},
		"a large disk": {1000 * gib, 50 * gib},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d, lines := onDisk(t, c.total)
			w.Start(ctx)
			steps := []struct {
				free int64
				want string
			}{
				{c.least, ""},
				{c.least - 1, "on"},
				{c.least - 1, ""},
				{c.least + 1, ""}, // not yet enough
				{c.least + c.least/5, ""},
				{c.least + c.least/5 + 1, "off"},
				{c.least, ""},
				{0, "on"},
			}
			for i, step := range steps {
				d.free.Store(step.free)
				got := strings.Join(w.alertsOfSweep(), " ")
				if (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
					t.Errorf("step %d: %q, want %q", i, got, step.want)
				}
			}
			same(t, "warnings", strings.Count(lines.String(), "free space on the disk, or set a retention"), 2)
		})
	}
}

func TestDiskAlertIsForOwners(t *testing.T) {
	t.Parallel()
	w, d, _ := onDisk(t, 100*gib)
	w.AddAgents("arya")
	w.AddPerson("member", parley.AccessMember)
	w.Start(ctx)
	d.free.Store(7)
	before := w.LastEventNumber()
	same(t, "alerts", w.alertsOfSweep(), []string{`{"free":7,"message":"the disk is almost full: 0 MiB of 102400 are free","name":"disk","state":"on",` +
		`"suggestion":"free space on the disk, or set a retention; when the disk is full, the hub stores nothing","total":107374182400}`})
	for _, who := range []string{"arya", "member"} {
		same(t, who, len(follow(t, w.Hub, as(who), before, w.LastEventNumber())), 0)
	}
	w.Restart()
	w.Start(ctx)
	same(t, "after a restart, again", len(w.alertsOfSweep()), 1)
}

// The alert that could not be written is raised again, and the rest of the sweep is done all the same.
func TestDiskThatCannotBeSeenHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w, d, _ := onDisk(t, 100*gib)
	w.AddAgents("arya")
	w.putArtifactAs("arya", "unused")
	w.Clock.Advance(2 * day)
	*d.err = fs.ErrPermission
	if err := w.Sweep(ctx); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("sweep: %v", err)
	}
	same(t, "bodies", len(w.storedBodies()), 0)
	*d.err = errors.ErrUnsupported
	d.free.Store(0)
	w.sweepEverything()
	*d.err = nil
	w.Start(ctx)
	same(t, "alerts", len(w.alertsOfSweep()), 1)
}

// The real store knows its disk, or does not say.
func TestStoreKnowsItsDisk(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.WrapStore = func(s storage.Store) storage.Store { return s } })
	known, ok := w.Store.(storage.Disk)
	if !ok {
		same(t, "without a disk", stores.Name, "PostgreSQL")
		return
	}
	free, total, err := known.Space()
	w.NoError(err)
	if free < 0 || free > total || total == 0 {
		t.Errorf("%d of %d bytes are free", free, total)
	}
}

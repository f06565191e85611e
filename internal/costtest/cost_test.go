package costtest

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write testdata/cost.txt anew")

const (
	warmUp   = 10 // steps before the first measured one, in which connections prepare their statements
	measured = 15 // measured steps; the test uses their median
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	migrated.Drop()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

// TestCostIsPinned measures every use case on every database and compares the costs with the golden file.
func TestCostIsPinned(t *testing.T) {
	if *update && raceEnabled {
		t.Fatal("run the update without the race detector, which allocates memory too")
	}
	pinned, text := readTable(t)
	if !*update && pinned.String() != text {
		t.Errorf("%s has other rows or another form than the test writes", golden)
	}
	found := table{}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if only := os.Getenv("PARLEY_STORES"); only != "" && !slices.Contains(strings.Split(only, ","), k.name) {
				t.Skipf("PARLEY_STORES is %q", only)
			}
			for _, u := range useCases {
				row := rowKey{u.name, k.name}
				found[row] = u.measure(t, k)
				if differences := pinned.compare(row, found[row]); differences != "" && !*update {
					t.Errorf("%s on %s: %s", u.name, k.name, differences)
				}
			}
		})
	}
	switch {
	case *update && !t.Failed():
		pinned.renew(found).write(t)
	case t.Failed():
		t.Log("if the costs are meant to change, run make cost and commit " + golden)
	}
}

// measure returns what one step of a use case costs on an empty database.
func (u useCase) measure(t *testing.T, k kind) costs {
	t.Helper()
	whole := measureSteps(t, k, u.prepare)
	if u.without == nil {
		return whole
	}
	rest := measureSteps(t, k, u.without)
	for i := range whole {
		whole[i] -= rest[i]
	}
	return whole
}

// measureSteps returns the median costs of a step. It runs in a bubble of testing/synctest: no timer of the hub expires, and
// synctest.Wait returns when the hub's services have nothing left to do.
func measureSteps(t *testing.T, k kind, prepare func(*measuredHub) step) (median costs) {
	t.Helper()
	address := k.create(t)
	synctest.Test(t, func(t *testing.T) {
		h := newMeasuredHub(t, k, address)
		t.Cleanup(h.close)
		do := prepare(h)
		var all [len(columns)][]int64
		for n := range warmUp + measured {
			h.clock.seconds.Add(1)
			cost := h.measure(do)
			for i := range cost {
				if n >= warmUp {
					all[i] = append(all[i], cost[i])
				}
			}
		}
		for i := range all {
			slices.Sort(all[i])
			median[i] = all[i][measured/2]
		}
	})
	return median
}

// measure returns what one step costs.
func (h *measuredHub) measure(s step) costs {
	if s.before != nil {
		s.before()
	}
	synctest.Wait()
	before := h.costs()
	s.do()
	synctest.Wait()
	after := h.costs()
	if s.after != nil {
		s.after()
	}
	for i := range after {
		after[i] -= before[i]
	}
	return after
}

// costs returns what everything has cost since the measuredHub was made.
func (h *measuredHub) costs() costs {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	c := h.meter.Cost()
	return costs{h.store.updates.Load(), h.store.views.Load(), c.Reads, c.Writes, c.Trips, c.Rows, int64(memory.Mallocs)}
}

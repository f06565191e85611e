package alert

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestMachine(t *testing.T) {
	type look struct {
		after   int // seconds since the start
		v       verdict
		changed bool
	}
	for name, looks := range map[string][]look{
		"on once it has lasted":           {{0, bad, false}, {5, bad, false}, {10, bad, true}, {15, bad, false}},
		"a break begins it anew":          {{0, bad, false}, {5, fine, false}, {10, bad, false}, {15, bad, false}, {20, bad, true}},
		"what is between is a break too":  {{0, bad, false}, {5, between, false}, {10, bad, false}, {20, bad, true}},
		"off once it was fine for longer": {{0, bad, false}, {10, bad, true}, {15, fine, false}, {30, fine, false}, {35, fine, true}, {40, fine, false}},
		"between does not end it":         {{0, bad, false}, {10, bad, true}, {15, fine, false}, {20, between, false}, {25, fine, false}, {40, fine, false}, {45, fine, true}},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine{Delays: Delays{On: 10 * time.Second, Off: 20 * time.Second}}
			for i, l := range looks {
				if got := m.step(start.Add(time.Duration(l.after)*time.Second), l.v); got != l.changed {
					t.Errorf("look %d: changed %v, want %v", i, got, l.changed)
				}
			}
		})
	}
}

// TestMachineNeverFlaps: between two changes it was otherwise for as long as it holds, whatever is seen and whenever.
func TestMachineNeverFlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.IntRange(1, 100)
		m := machine{Delays: Delays{time.Duration(seconds.Draw(t, "on")) * time.Second, time.Duration(seconds.Draw(t, "off")) * time.Second}}
		now, changed := start, start
		for range rapid.IntRange(0, 200).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "later")) * time.Second)
			was, v := m.on, verdict(rapid.IntRange(int(fine), int(bad)).Draw(t, "verdict"))
			if !m.step(now, v) {
				continue
			}
			hold, want := m.On, bad
			if was {
				hold, want = m.Off, fine
			}
			if now.Sub(changed) < hold || v != want || m.on == was {
				t.Fatalf("it changed from %v by %v after %v", was, v, now.Sub(changed))
			}
			changed = now
		}
	})
}

func TestWindowForgets(t *testing.T) {
	var counted tally
	w := window{tally: &counted, checks: 3}
	for i, want := range []counts{{1, 1}, {2, 1}, {3, 1}, {3, 0}, {3, 0}} {
		counted.add(i == 0)
		if got := w.advance(); got != want {
			t.Errorf("look %d has %+v, want %+v", i, got, want)
		}
	}
}

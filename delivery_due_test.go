package parley

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var deliveryStates = slices.Sorted(maps.Keys(deliverySteps))

// The contract's words, a second time: open is accepted, delivered, or seen in a live run.
func TestStateAndLeaseDecideOpenAndReady(t *testing.T) {
	for _, c := range []struct {
		state                 DeliveryState
		open, openWithLease   bool
		ready, readyWithPause bool
	}{
		{DeliveryAccepted, true, true, true, false},
		{DeliveryDelivered, true, true, false, false},
		{DeliverySeen, false, true, false, false},
		{DeliveryAcked, false, false, false, false},
		{DeliveryAnswered, false, false, false, false},
		{DeliveryFailed, false, false, false, false},
		{DeliveryExpired, false, false, false, false},
		{DeliveryEvicted, false, false, false, false},
		{DeliveryDead, false, false, false, false},
		{DeliveryDropped, false, false, false, false},
	} {
		t.Run(string(c.state), func(t *testing.T) {
			plain, leased, paused := Delivery{State: c.state}, Delivery{State: c.state, Lease: "x", Until: 9}, Delivery{State: c.state, Until: 9}
			if plain.Open() != c.open || leased.Open() != c.openWithLease || paused.Open() != c.open {
				t.Errorf("open: %t, leased %t, paused %t", plain.Open(), leased.Open(), paused.Open())
			}
			if plain.Ready() != c.ready || paused.Ready() != c.readyWithPause || leased.Ready() {
				t.Errorf("ready: %t, paused %t, leased %t", plain.Ready(), paused.Ready(), leased.Ready())
			}
		})
	}
}

func TestStateDecidesAwaitedAndUnseen(t *testing.T) {
	deadline := time.Unix(1000, 0)
	for _, s := range deliveryStates {
		awaited := Delivery{State: s, Deadline: &deadline}
		if want := slices.Contains([]DeliveryState{"accepted", "delivered", "seen"}, s); awaited.MayMissDeadline() != want {
			t.Errorf("%s: awaited is %t, want %t", s, !want, want)
		}
		if awaited.Late = true; awaited.MayMissDeadline() {
			t.Errorf("%s: still awaited once its sender knows", s)
		}
		if (Delivery{State: s}).MayMissDeadline() {
			t.Errorf("%s: awaited without a deadline", s)
		}
		unseen := Delivery{State: s, Waking: true}
		if want := s == "accepted" || s == "delivered"; unseen.MayBecomeOverdue() != want {
			t.Errorf("%s: unseen is %t, want %t", s, !want, want)
		}
		if unseen.Overdue = true; unseen.MayBecomeOverdue() {
			t.Errorf("%s: still to become overdue once its sender knows", s)
		}
		if (Delivery{State: s}).MayBecomeOverdue() {
			t.Errorf("%s: what wakes nobody may become overdue", s)
		}
	}
}

func TestNextDueTimeOfADelivery(t *testing.T) {
	accepted := time.Unix(1000, 0).UTC()
	after := func(d time.Duration) *time.Time {
		moment := accepted.Add(d)
		return &moment
	}
	high, err := ParsePriority("high") // to be seen within 5 minutes
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		d    Delivery
		want *time.Time
	}{
		{"nothing", Delivery{State: "accepted"}, nil},
		{"unseen", Delivery{State: "accepted", Waking: true}, after(5 * time.Minute)},
		{"delivered and unseen", Delivery{State: "delivered", Waking: true}, after(5 * time.Minute)},
		{"known to be overdue", Delivery{State: "accepted", Waking: true, Overdue: true}, nil},
		{"seen", Delivery{State: "seen", Waking: true}, nil},
		{"expires", Delivery{State: "accepted", ExpiresAt: after(time.Hour)}, after(time.Hour)},
		{"expires, but somebody has it", Delivery{State: "delivered", ExpiresAt: after(time.Hour)}, nil},
		{"expires first", Delivery{State: "accepted", Waking: true, ExpiresAt: after(time.Minute)}, after(time.Minute)},
		{"overdue first", Delivery{State: "accepted", Waking: true, ExpiresAt: after(time.Hour)}, after(5 * time.Minute)},
		{"a deadline", Delivery{State: "seen", Deadline: after(time.Hour)}, after(time.Hour)},
		{"a deadline known to be missed", Delivery{State: "seen", Deadline: after(time.Hour), Late: true}, nil},
		{"a deadline of a dead letter", Delivery{State: "dead", Deadline: after(time.Hour)}, nil},
		{"a deadline first", Delivery{State: "accepted", Waking: true, ExpiresAt: after(time.Hour), Deadline: after(1)}, after(1)},
		{
			"a deadline after what is known already",
			Delivery{State: "accepted", Waking: true, Overdue: true, Deadline: after(time.Hour)},
			after(time.Hour),
		},
		{"settled", Delivery{State: "acked", Waking: true, ExpiresAt: after(1), Deadline: after(1)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.d.AcceptedAt, c.d.Priority = accepted, high
			switch got := c.d.Next(); {
			case (got == nil) != (c.want == nil):
				t.Errorf("got %v, want %v", got, c.want)
			case got != nil && !got.Equal(*c.want):
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Whoever does what is due at Next, and marks it, comes to an end.
func TestDueTimesOfADeliveryRunOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := func(name string) *time.Time {
			if !rapid.Bool().Draw(t, name+" given") {
				return nil
			}
			at := time.UnixMilli(rapid.Int64Range(0, 1e9).Draw(t, name))
			return &at
		}
		d := Delivery{
			State: rapid.SampledFrom(deliveryStates).Draw(t, "state"), Waking: rapid.Bool().Draw(t, "waking"),
			AcceptedAt: time.UnixMilli(rapid.Int64Range(0, 1e9).Draw(t, "accepted")),
			ExpiresAt:  moment("expires"), Deadline: moment("deadline"),
		}
		var last time.Time
		for range 3 {
			next := d.Next()
			if next == nil {
				return
			}
			if next.Before(last) {
				t.Fatalf("%s is due after %s", next, last)
			}
			last = *next
			if d.State == DeliveryAccepted && d.ExpiresAt != nil && !d.ExpiresAt.After(last) {
				d.State = DeliveryExpired
			}
			d.Late = d.Late || d.MayMissDeadline() && !d.Deadline.After(last)
			d.Overdue = d.Overdue || d.MayBecomeOverdue() && !d.OverdueAt().After(last)
		}
		if next := d.Next(); next != nil {
			t.Fatalf("all is done, and %s is due: %+v", next, d)
		}
	})
}

func TestTickAfterADuration(t *testing.T) {
	for d, want := range map[time.Duration]Tick{
		0: 100, time.Millisecond: 101, time.Second: 1100, time.Hour: 3_600_100, 1999 * time.Microsecond: 101,
	} {
		if got := Tick(100).After(d); got != want {
			t.Errorf("%s after 100 is %d, want %d", d, got, want)
		}
	}
}

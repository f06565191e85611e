package alert

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/steps"
)

// fake is a hub whose inboxes the test fills.
type fake struct {
	figures hub.Figures
	on      map[string]bool
	said    []string // changes
	err     error
}

func (f *fake) Figures(context.Context) (hub.Figures, error) { return f.figures, nil }

func (f *fake) Alert(_ context.Context, a parley.Alert, on bool) error {
	key := strings.TrimSpace(a.Name + " " + a.Agent)
	if f.on[key] == on {
		return nil
	}
	if f.err != nil {
		return f.err
	}
	f.on[key] = on
	if on {
		f.said = append(f.said, key+" on: "+a.Message)
	} else {
		f.said = append(f.said, key+" off")
	}
	return nil
}

func (f *fake) RaiseAlerts(ctx context.Context, list ...parley.Alert) error {
	for _, a := range list {
		if err := f.Alert(ctx, a, true); err != nil {
			return err
		}
	}
	return nil
}

// watched is a watcher whose clock the test moves.
type watched struct {
	*Watcher
	*fake
	t   *testing.T
	now time.Time
}

func watch(t *testing.T, limits Limits) *watched {
	w := &watched{Watcher: New(limits, slog.Default()), fake: &fake{on: map[string]bool{}}, t: t, now: start}
	w.Watcher.hub, w.clock = w.fake, func() time.Time { return w.now }
	return w
}

// look looks so often, each time after something was done, and returns what was said.
func (w *watched) look(times int, do func()) []string {
	w.t.Helper()
	w.said = nil
	for range times {
		do()
		w.now = w.now.Add(checkEvery)
		if err := w.Watcher.check(w.t.Context()); err != nil && w.err == nil {
			w.t.Fatal(err)
		}
	}
	return w.said
}

func (w *watched) wants(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: said %q, want %q", what, got, want)
	}
}

func usual() Limits {
	return Limits{
		Write: 100 * time.Millisecond, Read: 200 * time.Millisecond, Latency: 5 * time.Second, Depth: 80, Errors: 1,
		Delays: Delays{On: 15 * time.Second, Off: time.Minute},
	}
}

func TestSlowWrites(t *testing.T) {
	w := watch(t, usual())
	quick := func() {
		for range 10 {
			w.Wrote(time.Millisecond)
			w.Read(time.Millisecond)
		}
	}
	slow := func() {
		quick()
		w.Wrote(101 * time.Millisecond)
		w.Read(101 * time.Millisecond)
	}
	w.wants("while all is well", w.look(20, quick))
	w.wants("one that is slow", w.look(20, func() {
		quick()
		quick()
		quick()
		if w.now.Second() == 0 {
			slow()
		}
	}))
	got := w.look(20, slow)
	if len(got) != 1 || !strings.HasPrefix(got[0], "write on: writing messages is slow: ") || !strings.HasSuffix(got[0], "took longer than 100ms") {
		t.Errorf("said %q", got)
	}
	w.wants("when it is over", w.look(40, quick), "write off")
}

func TestTooFewSamplesRaiseNoAlert(t *testing.T) {
	w := watch(t, usual())
	w.wants("19 slow ones", w.look(1, func() {
		for range 19 {
			w.Wrote(time.Hour)
		}
	}))
	w.wants("and then none", w.look(30, func() {}))
}

func step(num int64, state parley.DeliveryState, after time.Duration) steps.Batch {
	s := steps.Step{Num: num, State: state, Waking: true, Accepted: start, PreviousAt: start, At: start.Add(after)}
	return steps.Batch{Steps: []steps.Step{s}, Events: []hub.Followed{{Event: parley.Event{Num: num}}}}
}

func TestLatencyAndErrors(t *testing.T) {
	w := watch(t, usual())
	num := int64(0)
	tell := func(state parley.DeliveryState, after time.Duration) {
		num++
		for range 2 { // what is told again does not count
			if err := w.Consume(t.Context(), step(num, state, after)); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.wants("while all is well", w.look(30, func() {
		tell(parley.DeliverySeen, time.Second)
		tell(parley.DeliveryAnswered, time.Hour) // how long the work takes is another thing
	}))
	got := w.look(10, func() { tell(parley.DeliverySeen, 6*time.Second); tell(parley.DeliveryDead, time.Second) })
	if len(got) != 2 || !strings.HasPrefix(got[0], "latency on: ") && !strings.HasPrefix(got[1], "latency on: ") {
		t.Errorf("said %q", got)
	}
}

func TestFullInboxes(t *testing.T) {
	w := watch(t, usual())
	inbox := func(waking int) func() {
		return func() {
			w.figures = hub.Figures{
				Members: []parley.Agent{
					{ID: "arya", Kind: parley.KindAgent, Profile: parley.Profile{InboxDepth: 100}},
					{ID: "gendry", Kind: parley.KindAgent, Profile: parley.Profile{InboxDepth: 1000}},
					{ID: "user", Kind: parley.KindHuman, Profile: parley.Profile{InboxDepth: 100}},
				},
				Inboxes: map[string]parley.Inbox{"arya": {Waking: waking}, "gendry": {Waking: waking}, "user": {Waking: waking}},
			}
		}
	}
	w.wants("80 of 100", w.look(30, inbox(80)))
	w.wants("81 of 100", w.look(30, inbox(81)), "depth arya on: the inbox of arya has 81 of 100 messages")
	w.wants("not clearly below", w.look(30, inbox(61)))
	w.wants("clearly below", w.look(30, inbox(60)), "depth arya off")
	w.wants("both", w.look(30, inbox(900)), "depth arya on: the inbox of arya has 900 of 100 messages", "depth gendry on: the inbox of gendry has 900 of 1000 messages")
	w.wants("removed", w.look(1, func() { w.figures.Members = w.figures.Members[1:] }), "depth arya off")
}

func TestUnboundedInboxesHaveNoDepthToPass(t *testing.T) {
	w := watch(t, usual())
	fill := func(overflow parley.Overflow) func() {
		return func() {
			w.figures = hub.Figures{
				Members: []parley.Agent{{ID: "arya", Kind: parley.KindAgent, Profile: parley.Profile{InboxDepth: 100, InboxOverflow: overflow}}},
				Inboxes: map[string]parley.Inbox{"arya": {Waking: 7830}},
			}
		}
	}
	w.wants("unbounded", w.look(30, fill(parley.OverflowUnbounded)))
	w.wants("bounded", w.look(30, fill(parley.OverflowEvict)), "depth arya on: the inbox of arya has 7830 of 100 messages")
	w.wants("unbounded again", w.look(30, fill(parley.OverflowUnbounded)), "depth arya off")
}

func TestFailedAlertsAreSentLater(t *testing.T) {
	w := watch(t, Limits{Write: time.Millisecond})
	w.err = errors.New("the disk is full")
	slow := func() {
		for range 20 {
			w.Wrote(time.Second)
		}
	}
	w.wants("while it fails", w.look(3, slow))
	w.err = nil
	if got := w.look(1, slow); len(got) != 1 {
		t.Errorf("then %q", got)
	}
}

func TestDisabledLimitsRaiseNoAlert(t *testing.T) {
	w := watch(t, Limits{})
	w.wants("all off", w.look(30, func() {
		for range 30 {
			w.Wrote(time.Hour)
			w.Read(time.Hour)
		}
	}))
}

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// tree is a world of bridges: what there is, and what was done with it.
type tree struct {
	mu      sync.Mutex
	bridges []parley.BridgeView
	fails   int // how often running a bridge fails
	ends    bool
	change  chan struct{}
	did     []string
	began   time.Time
}

func (w *tree) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did = append(w.did, fmt.Sprintf("%s ", time.Since(w.began))+fmt.Sprintf(format, args...))
}

// set replaces the bridges, and lets the keeper see it.
func (w *tree) set(list ...parley.Bridge) {
	w.mu.Lock()
	w.bridges = nil
	for _, b := range list {
		w.bridges = append(w.bridges, parley.BridgeView{Bridge: b})
	}
	w.mu.Unlock()
	w.change <- struct{}{}
	synctest.Wait()
}

func (w *tree) run(ctx context.Context, id string) error {
	w.say("run %s", id)
	w.mu.Lock()
	failed, ended := w.fails > 0, w.ends
	w.fails = max(w.fails-1, 0)
	w.mu.Unlock()
	switch {
	case failed:
		return parley.Errorf(parley.Unavailable, "no room")
	case ended:
		return nil
	}
	<-ctx.Done()
	w.say("end %s", id)
	return ctx.Err()
}

// keep runs a keeper for a test in a bubble; what it did is told after it was stopped.
func (w *tree) keep(t *testing.T, during func()) []string {
	t.Helper()
	w.change, w.began = make(chan struct{}, 1), time.Now()
	k := &bridgeRunner{
		list: func(context.Context) ([]parley.BridgeView, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.bridges), nil
		},
		changed: func() <-chan struct{} { return w.change },
		run:     w.run,
		note: func(_ context.Context, id string, s parley.BridgeStatus) error {
			w.say("%s has trouble: %s", id, s.Trouble)
			return nil
		},
		log: slog.New(slog.DiscardHandler),
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.keep(ctx, func() {})
	}()
	synctest.Wait()
	during()
	stop()
	<-ended
	return w.did
}

func TestBridgesRunWhereTheyAreToRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tree{}
		a, b := parley.Bridge{ID: "a"}, parley.Bridge{ID: "b", Outside: true}
		paused := parley.Bridge{ID: "a", Paused: true}
		more := parley.Bridge{ID: "a", Agents: []string{"arya"}}
		another := parley.Bridge{ID: "a", CreatedAt: time.Now()}
		did := w.keep(t, func() {
			for _, list := range [][]parley.Bridge{{a, b}, {a, b}, {paused, b}, {a}, {more}, {another}, {}} {
				w.set(list...)
			}
			w.set(a)
		})
		want := "0s run a, 0s end a, 0s run a, 0s end a, 0s run a, 0s end a, 0s run a, 0s end a"
		if got := strings.Join(did, ", "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

func TestABridgeThatFailsIsRunAgainEachTimeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tree{fails: 3}
		did := w.keep(t, func() {
			w.set(parley.Bridge{ID: "a"})
			time.Sleep(10 * time.Second)
		})
		want := "0s run a, 0s a has trouble: no room, 1s run a, 1s a has trouble: no room, 3s run a, 3s a has trouble: no room, 7s run a, 10s end a"
		if got := strings.Join(did, ", "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

func TestAPauseEndsWithItsBridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tree{fails: 1}
		did := w.keep(t, func() {
			w.set(parley.Bridge{ID: "a"})
			w.set() // while it pauses
			time.Sleep(5 * time.Second)
		})
		if got, want := strings.Join(did, ", "), "0s run a, 0s a has trouble: no room"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

// It was paused or removed, and perhaps is not any more: that shows at the next look.
func TestABridgeThatEndsByItselfIsNotRunAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tree{ends: true}
		did := w.keep(t, func() {
			w.set(parley.Bridge{ID: "a"})
			time.Sleep(3 * listEvery / 2)
		})
		if got, want := strings.Join(did, ", "), "0s run a, 1m0s run a"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

// A hub whose store is busy for a moment goes on with the bridges it has.
func TestBridgesThatCannotBeListedGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := &tree{change: make(chan struct{}, 1), began: time.Now()}
		k := &bridgeRunner{
			list: func(context.Context) ([]parley.BridgeView, error) {
				if calls++; calls == 2 {
					return nil, errors.New("busy")
				}
				return []parley.BridgeView{{Bridge: parley.Bridge{ID: "a"}}}, nil
			},
			changed: func() <-chan struct{} { return nil }, run: w.run, log: slog.New(slog.DiscardHandler),
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*listEvery/2)
		defer stop()
		k.keep(ctx, func() {})
		if got, want := strings.Join(w.did, ", "), "0s run a, 2m30s end a"; got != want || calls != 3 {
			t.Errorf("got %s after %d lists\nwant %s", got, calls, want)
		}
	})
}

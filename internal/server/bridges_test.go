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

// fakeBridges is a list of bridges that a test sets, with a record of what the runner did with them.
type fakeBridges struct {
	mu      sync.Mutex
	bridges []parley.BridgeView
	fails   int // how many runs of a bridge fail
	ends    bool
	change  chan struct{}
	did     []string
	began   time.Time
}

func (f *fakeBridges) say(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, fmt.Sprintf("%s ", time.Since(f.began))+fmt.Sprintf(format, args...))
}

// set replaces the bridges, and makes the runner see them.
func (f *fakeBridges) set(list ...parley.Bridge) {
	f.mu.Lock()
	f.bridges = nil
	for _, b := range list {
		f.bridges = append(f.bridges, parley.BridgeView{Bridge: b})
	}
	f.mu.Unlock()
	f.change <- struct{}{}
	synctest.Wait()
}

func (f *fakeBridges) run(ctx context.Context, id string) error {
	f.say("run %s", id)
	f.mu.Lock()
	failed, ended := f.fails > 0, f.ends
	f.fails = max(f.fails-1, 0)
	f.mu.Unlock()
	switch {
	case failed:
		return parley.Errorf(parley.Unavailable, "no room")
	case ended:
		return nil
	}
	<-ctx.Done()
	f.say("end %s", id)
	return ctx.Err()
}

// keep runs a bridgeRunner during a test, and returns what it did after it was stopped.
func (f *fakeBridges) keep(t *testing.T, during func()) []string {
	t.Helper()
	f.change, f.began = make(chan struct{}, 1), time.Now()
	k := &bridgeRunner{
		list: func(context.Context) ([]parley.BridgeView, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return slices.Clone(f.bridges), nil
		},
		changed: func() <-chan struct{} { return f.change },
		run:     f.run,
		note: func(_ context.Context, id string, s parley.BridgeStatus) error {
			f.say("%s has trouble: %s", id, s.Trouble)
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
	return f.did
}

func TestOnlyActiveBridgesOfTheHubRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeBridges{}
		a, b := parley.Bridge{ID: "a"}, parley.Bridge{ID: "b", Outside: true}
		paused := parley.Bridge{ID: "a", Paused: true}
		more := parley.Bridge{ID: "a", Agents: []string{"arya"}}
		another := parley.Bridge{ID: "a", CreatedAt: time.Now()}
		did := f.keep(t, func() {
			for _, list := range [][]parley.Bridge{{a, b}, {a, b}, {paused, b}, {a}, {more}, {another}, {}} {
				f.set(list...)
			}
			f.set(a)
		})
		want := "0s run a, 0s end a, 0s run a, 0s end a, 0s run a, 0s end a, 0s run a, 0s end a"
		if got := strings.Join(did, ", "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

func TestABridgeThatFailsIsRunAgainEachTimeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeBridges{fails: 3}
		did := f.keep(t, func() {
			f.set(parley.Bridge{ID: "a"})
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
		f := &fakeBridges{fails: 1}
		did := f.keep(t, func() {
			f.set(parley.Bridge{ID: "a"})
			f.set() // while it pauses
			time.Sleep(5 * time.Second)
		})
		if got, want := strings.Join(did, ", "), "0s run a, 0s a has trouble: no room"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

// The bridge was paused or removed, and perhaps is not any more: the next list shows that.
func TestABridgeThatEndsByItselfIsNotRunAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeBridges{ends: true}
		did := f.keep(t, func() {
			f.set(parley.Bridge{ID: "a"})
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
		f := &fakeBridges{change: make(chan struct{}, 1), began: time.Now()}
		k := &bridgeRunner{
			list: func(context.Context) ([]parley.BridgeView, error) {
				if calls++; calls == 2 {
					return nil, errors.New("busy")
				}
				return []parley.BridgeView{{Bridge: parley.Bridge{ID: "a"}}}, nil
			},
			changed: func() <-chan struct{} { return nil }, run: f.run, log: slog.New(slog.DiscardHandler),
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*listEvery/2)
		defer stop()
		k.keep(ctx, func() {})
		if got, want := strings.Join(f.did, ", "), "0s run a, 2m30s end a"; got != want || calls != 3 {
			t.Errorf("got %s after %d lists\nwant %s", got, calls, want)
		}
	})
}

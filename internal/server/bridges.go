package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/bridge"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/service"
)

// startBridges starts to run the bridges of this hub. Stop ends them before the hub, because they use it.
func (s *Server) startBridges(ctx context.Context) error {
	caller := hub.Caller{Agent: parley.Owner, Source: "file", Scopes: parley.AllScopes()}
	bridgeHub := s.hub.BridgeAt(caller)
	bridges := &bridgeRunner{
		list:    func(ctx context.Context) ([]parley.BridgeView, error) { return s.hub.Bridges(ctx, caller) },
		changed: s.hub.BridgesChanged,
		run: func(ctx context.Context, id string) error {
			return bridge.Run(ctx, bridge.Options{Hub: bridgeHub, ID: id, Log: s.Log})
		},
		note: bridgeHub.NoteBridge,
		log:  s.Log,
	}
	runner := service.New(bridges.keep)
	runner.Start(context.WithoutCancel(ctx))
	s.onStop(func() error { runner.Stop(); return nil })
	return nil
}

const (
	minPause  = time.Second // before the first retry of a bridge that failed
	maxPause  = time.Minute
	listEvery = time.Minute // finds the changes of other processes of the hub
)

// bridgeRunner runs the bridges that this process must run, and retries those that fail.
type bridgeRunner struct {
	list    func(context.Context) ([]parley.BridgeView, error)
	changed func() <-chan struct{} // returns a channel that closes at the next change; called before each list
	run     func(ctx context.Context, id string) error
	note    func(ctx context.Context, id string, s parley.BridgeStatus) error
	log     *slog.Logger

	running map[string]runningBridge
	all     sync.WaitGroup
}

// runningBridge is a running bridge with the settings that it was started with.
type runningBridge struct {
	parley.Bridge
	cancel func()
	ended  chan struct{} // closed when the bridge has ended
}

// isCurrent reports whether the bridge still runs, and is the one that has its id now. It ignores other settings, such as the
// agents of the bridge: a running bridge reads their changes itself.
func (r runningBridge) isCurrent(now parley.Bridge) bool {
	select {
	case <-r.ended:
		return false // the bridge ended by itself: it was removed or paused, perhaps only for a moment
	default:
		return now.Root == r.Root && now.CreatedAt.Equal(r.CreatedAt)
	}
}

// keep runs the bridges until ctx is done, and then ends them all. It calls started after each list.
func (r *bridgeRunner) keep(ctx context.Context, started func()) {
	r.running = map[string]runningBridge{}
	defer r.all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		changed := r.changed()
		if views, err := r.list(ctx); err == nil {
			r.adjust(ctx, views)
		} else if ctx.Err() == nil {
			r.log.Warn("cannot list the bridges; the running ones continue", "error", err, "retry_in", listEvery)
		}
		started()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-time.After(listEvery):
		}
	}
}

// adjust ends the running bridges that are no longer wanted, and starts the wanted ones that do not run.
func (r *bridgeRunner) adjust(ctx context.Context, views []parley.BridgeView) {
	wanted := map[string]parley.Bridge{}
	for _, v := range views {
		if !v.Outside && !v.Paused {
			wanted[v.ID] = v.Bridge
		}
	}
	for id, running := range r.running {
		if now, ok := wanted[id]; !ok || !running.isCurrent(now) {
			running.cancel()
			<-running.ended
			delete(r.running, id)
		}
	}
	for id, b := range wanted {
		if _, ok := r.running[id]; !ok {
			r.running[id] = r.start(ctx, b)
		}
	}
}

func (r *bridgeRunner) start(ctx context.Context, b parley.Bridge) runningBridge {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	r.all.Go(func() {
		defer close(ended)
		r.runRepeatedly(ctx, b.ID)
	})
	return runningBridge{b, cancel, ended}
}

// runRepeatedly runs a bridge until ctx is done, or until the bridge ends by itself because it was removed or paused. It retries a
// bridge that fails, after a pause that doubles up to maxPause.
func (r *bridgeRunner) runRepeatedly(ctx context.Context, id string) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		began := time.Now()
		err := r.run(ctx, id)
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		r.log.Warn("a bridge failed; the hub restarts it", "bridge", id, "error", err, "retry_in", pause)
		if err := r.note(ctx, id, parley.BridgeStatus{Trouble: parley.AsError(err).Message}); err != nil && ctx.Err() == nil {
			r.log.Warn("cannot save why a bridge failed; parley bridge show does not show it", "bridge", id, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

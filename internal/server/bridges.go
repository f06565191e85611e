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

// startBridges begins to run the bridges of this hub. They end before everything else.
func (s *Server) startBridges(ctx context.Context) error {
	caller := hub.Caller{Agent: parley.Owner, Source: "file", Scopes: parley.AllScopes()}
	door := s.hub.BridgeAt(caller)
	k := &bridgeRunner{
		list:    func(ctx context.Context) ([]parley.BridgeView, error) { return s.hub.Bridges(ctx, caller) },
		changed: s.hub.BridgesChanged,
		run: func(ctx context.Context, id string) error {
			return bridge.Run(ctx, bridge.Options{Hub: door, ID: id, Log: s.Log})
		},
		note: door.NoteBridge,
		log:  s.Log,
	}
	kept := service.New(k.keep)
	kept.Start(context.WithoutCancel(ctx))
	s.onStop(func() error { kept.Stop(); return nil })
	return nil
}

const (
	shortestPause = time.Second // before a bridge that has failed is run again
	longestPause  = time.Minute
	listEvery     = time.Minute // for what another process of the hub has changed
)

// bridgeRunner runs one bridge for each that is to be run here, and runs it again when it fails.
type bridgeRunner struct {
	list    func(context.Context) ([]parley.BridgeView, error)
	changed func() <-chan struct{} // is asked before each list
	run     func(ctx context.Context, id string) error
	note    func(ctx context.Context, id string, s parley.BridgeStatus) error
	log     *slog.Logger

	running map[string]runningBridge
	all     sync.WaitGroup
}

// runningBridge is a bridge that runs, as it was when it was started.
type runningBridge struct {
	parley.Bridge
	cancel func()
	ended  chan struct{} // closed once it has
}

// isCurrent says whether it runs, and is the bridge that has its id now. Who speaks through it and the like it sees by itself.
func (r runningBridge) isCurrent(now parley.Bridge) bool {
	select {
	case <-r.ended:
		return false // by itself: it was removed or paused, for a moment at least
	default:
		return now.Root == r.Root && now.CreatedAt.Equal(r.CreatedAt)
	}
}

// keep looks after bridges until ctx is done, and then ends them all.
func (k *bridgeRunner) keep(ctx context.Context, started func()) {
	k.running = map[string]runningBridge{}
	defer k.all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		changed := k.changed()
		if views, err := k.list(ctx); err == nil {
			k.adjust(ctx, views)
		} else if ctx.Err() == nil {
			k.log.Warn("the bridges could not be listed", "error", err)
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

// adjust ends what is not to run any more, and starts what is to run.
func (k *bridgeRunner) adjust(ctx context.Context, views []parley.BridgeView) {
	wanted := map[string]parley.Bridge{}
	for _, v := range views {
		if !v.Outside && !v.Paused {
			wanted[v.ID] = v.Bridge
		}
	}
	for id, r := range k.running {
		if now, ok := wanted[id]; !ok || !r.isCurrent(now) {
			r.cancel()
			<-r.ended
			delete(k.running, id)
		}
	}
	for id, b := range wanted {
		if _, ok := k.running[id]; !ok {
			k.running[id] = k.start(ctx, b)
		}
	}
}

func (k *bridgeRunner) start(ctx context.Context, b parley.Bridge) runningBridge {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	k.all.Go(func() {
		defer close(ended)
		k.runRepeatedly(ctx, b.ID)
	})
	return runningBridge{b, cancel, ended}
}

// runRepeatedly runs a bridge until ctx is done or it ends by itself, since it was removed or paused. After a failure it is run
// again, each time a little later.
func (k *bridgeRunner) runRepeatedly(ctx context.Context, id string) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		began := time.Now()
		err := k.run(ctx, id)
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestPause {
			pause = shortestPause
		}
		k.log.Warn("a bridge has failed", "bridge", id, "error", err, "again_in", pause)
		if err := k.note(ctx, id, parley.BridgeStatus{Trouble: parley.AsError(err).Message}); err != nil && ctx.Err() == nil {
			k.log.Warn("a bridge's trouble could not be noted", "bridge", id, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

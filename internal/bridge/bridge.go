// Package bridge joins directory trees and the hub, both ways. All that must last is in the hub: what has arrived, and under which
// name what departs is written. A bridge that was killed goes on from there.
//
// One goroutine polls: it reads what is new in the tree, hands it to the hub, and mirrors presence and the like. Another writes
// what departs. File events only make the first look earlier.
package bridge

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

const (
	defaultPoll = 2 * time.Second
	stopWithin  = 5 * time.Second
)

// Options are what a bridge is made from.
type Options struct {
	Hub  parley.BridgeHub
	ID   string
	Log  *slog.Logger
	Poll time.Duration // default: 2s

	Progress func(imported, waiting int64) // is told of long imports, about once a second
	Looked   func()                        // is called after the first look at a tree: files that appear from then on are delivered

	pollOnly bool        // no file events
	change   func(*tree) // changes the tree, in tests
}

// Run joins a tree and the hub until ctx is done or the bridge is removed or paused.
func Run(ctx context.Context, o Options) error {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var last *tree
	for {
		view, err := o.Hub.Bridge(ctx, o.ID)
		if err != nil || view.Paused {
			return err
		}
		t, err := openNext(view.Root, last, view.Reached)
		if err == nil {
			last, err = t, o.join(ctx, view.Bridge, t)
		} else if last == nil && !errors.Is(err, errTreeMoved) {
			return parley.Errorf(parley.Unavailable, "the tree of the bridge %s cannot be opened: %w", o.ID, err).
				Suggest("see that the directory is there and that this user may read it")
		}
		if errors.Is(err, errLockLost) {
			return o.untilPaused(ctx, view.ID)
		}
		if !errors.Is(err, errTreeMoved) {
			return err
		}
		_ = o.Hub.NoteBridge(ctx, o.ID, parley.BridgeStatus{Running: true, Trouble: oneLine(err.Error())}) // it is only for people
		if pause(ctx, o.Poll); ctx.Err() != nil {
			return nil
		}
	}
}

// untilPaused waits, after the lock of the tree was removed, until the bridge is paused or removed: only a person knows
// whether another hub has joined the tree.
func (o Options) untilPaused(ctx context.Context, id string) error {
	o.Log.Error("the bridge has stopped: "+errLockLost.Error()+"; it writes nothing more", "bridge", id,
		"do_this", "parley bridge pause "+id+" && parley bridge resume "+id)
	for ctx.Err() == nil {
		view, err := o.Hub.Bridge(ctx, id)
		if parley.CodeOf(err) == parley.BadInput || err == nil && view.Paused {
			return nil
		}
		_ = o.Hub.NoteBridge(ctx, id, parley.BridgeStatus{Stopped: true, Trouble: errLockLost.Error()}) // it is only for people
		pause(ctx, o.Poll)
	}
	return nil
}

// join joins one tree until the tree is moved.
func (o Options) join(ctx context.Context, b parley.Bridge, t *tree) error {
	defer t.close() //nolint:errcheck // it was only a way in
	if o.change != nil {
		o.change(t)
	}
	held, err := lock(t, b)
	if err != nil {
		return err
	}
	defer held.release()
	e := newEngine(o, b, t, held.ahead)
	if e.layout == nil {
		return parley.Errorf(parley.BadInput, "there is no layout %q", b.Layout)
	}
	if held.lockless {
		e.say("WARN: the file server has no locks: nothing keeps a second bridge away from this tree")
	}
	return e.run(ctx)
}

// run runs both directions and stops them together.
func (e *engine) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		err = e.poll(ctx)
	})
	both.Go(func() { e.export(ctx) })
	both.Wait()
	e.markStopped(ctx)
	return err
}

// markStopped tells the tree and the hub that the bridge has stopped.
func (e *engine) markStopped(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := e.layout.stop(ctx, e.view); err != nil && !errors.Is(err, errLockLost) {
		e.say("stopped with trouble: %v", err)
	}
	status := e.status.view()
	status.Running = false
	_ = e.hub.NoteBridge(ctx, e.id, status) // the hub may be gone already
}

// Package bridge connects a directory tree with the hub. Files become messages, and messages become files. The hub stores
// everything that must survive a crash: which documents have arrived, and the file name of each departure. A bridge that was
// killed continues from there.
//
// One goroutine polls: it reads new files, passes them to the hub, and mirrors presence, tasks and failed runs. Another goroutine
// writes departures. File events only make the poller look earlier.
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

// Options are the settings of a bridge.
type Options struct {
	Hub  parley.BridgeHub
	ID   string
	Log  *slog.Logger
	Poll time.Duration // default: 2s

	Progress    func(imported, waiting int64) // is called about once a second during a long import
	OnFirstScan func()                        // is called after the first scan; files that appear later are delivered

	pollOnly bool        // do not use file events
	change   func(*tree) // changes the tree before the bridge starts; for tests
}

// Run connects a tree with the hub until ctx is done or the bridge is removed or paused. E002 if the tree cannot be opened or
// another bridge uses it.
func Run(ctx context.Context, o Options) error {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var previous *tree
	for {
		view, err := o.Hub.Bridge(ctx, o.ID)
		if err != nil || view.Paused {
			return err
		}
		t, err := openNext(view.Root, previous, view.Reached)
		if err == nil {
			previous, err = t, o.join(ctx, view.Bridge, t)
		} else if previous == nil && !errors.Is(err, errTreeMoved) {
			return parley.Errorf(parley.Unavailable, "cannot open the tree of the bridge %s: %w", o.ID, err).
				Suggest("check that the directory exists and that this user can read it")
		}
		if errors.Is(err, errLockLost) {
			return o.untilPaused(ctx, view.ID)
		}
		if !errors.Is(err, errTreeMoved) {
			return err
		}
		_ = o.Hub.NoteBridge(ctx, o.ID, parley.BridgeStatus{Running: true, Trouble: oneLine(err.Error())}) // it is only for people
		if sleep(ctx, o.Poll); ctx.Err() != nil {
			return nil
		}
	}
}

// untilPaused waits until the bridge is paused or removed. Run calls it after the lock of the tree was removed, because only a
// person knows whether another hub uses the tree.
func (o Options) untilPaused(ctx context.Context, id string) error {
	o.Log.Error("the bridge has stopped: "+errLockLost.Error()+"; it writes nothing more", "bridge", id,
		"do_this", "parley bridge pause "+id+" && parley bridge resume "+id)
	for ctx.Err() == nil {
		view, err := o.Hub.Bridge(ctx, id)
		if parley.CodeOf(err) == parley.BadInput || err == nil && view.Paused {
			return nil
		}
		_ = o.Hub.NoteBridge(ctx, id, parley.BridgeStatus{Stopped: true, Trouble: errLockLost.Error()}) // it is only for people
		sleep(ctx, o.Poll)
	}
	return nil
}

// join connects one tree with the hub until ctx is done, the bridge ends or the tree is moved.
func (o Options) join(ctx context.Context, b parley.Bridge, t *tree) error {
	defer t.close() //nolint:errcheck // nothing was written through it
	if o.change != nil {
		o.change(t)
	}
	ownLock, err := lock(t, b)
	if err != nil {
		return err
	}
	defer ownLock.release()
	e := newEngine(o, b, t, ownLock.ahead)
	if e.layout == nil {
		return parley.Errorf(parley.BadInput, "there is no layout %q", b.Layout)
	}
	if ownLock.lockless {
		e.logf("WARN: the file server has no locks: make sure that no second bridge uses this tree")
	}
	return e.run(ctx)
}

// run runs the import and the export, and stops both when one ends.
func (e *engine) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	workers.Go(func() {
		defer cancel()
		err = e.poll(ctx)
	})
	workers.Go(func() { e.export(ctx) })
	workers.Wait()
	e.markStopped(ctx)
	return err
}

// markStopped tells the tree and the hub that the bridge has stopped.
func (e *engine) markStopped(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := e.layout.stop(ctx, e.view); err != nil && !errors.Is(err, errLockLost) {
		e.logf("cannot show in the tree that the bridge has stopped: %v", err)
	}
	status := e.status.view()
	status.Running = false
	_ = e.hub.NoteBridge(ctx, e.id, status) // the hub may be gone already
}

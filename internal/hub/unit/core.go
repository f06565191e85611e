package unit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/index"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/storage"
)

// Core is what every use case of one hub needs: the store, the configuration, the clock, the memory of this process, and the
// hooks by which packages take part in each other's use cases.
type Core struct {
	Store   storage.Store
	Config  Config
	Clock   parley.Clock
	Hooks   Hooks
	Index   *index.Indexer
	Started time.Time

	// The memory of this process. It is lost when the process ends.
	InboxSignals *local.InboxSignals
	Turns        *local.Turns
	Watches      *local.Watches
	Attendance   *local.Attendance
	WokenAgents  *local.DueAgents
	Live         *local.LiveRuns
	BridgeStates *local.BridgeStates
	Halts        local.Halts
	Budgets      local.Budgets
	Summaries    local.Summaries
}

// NewCore returns the core of a hub. The configuration must have its defaults. The hub sets the hooks.
func NewCore(store storage.Store, config Config) *Core {
	c := &Core{
		Store: store, Config: config, Clock: config.Clock, Index: index.NewIndexer(store, config.Log),
		InboxSignals: local.NewInboxSignals(), Turns: local.NewTurns(), Watches: local.NewWatches(), Attendance: local.NewAttendance(),
		WokenAgents: local.NewDueAgents(), Live: local.NewLiveRuns(), BridgeStates: local.NewBridgeStates(),
	}
	c.Started = c.Now()
	return c
}

// Now returns the time to the millisecond, as the store keeps it.
func (c *Core) Now() time.Time { return c.Clock.Now().UTC().Truncate(time.Millisecond) }

// AfterCommit wakes everything that waits for one of the changes, and writes the changes' warnings to the log.
func (c *Core) AfterCommit(changes *Changes) {
	c.Index.Poke()
	c.InboxSignals.Notify(changes.Woken...)
	c.WokenAgents.Note(changes.Woken)
	c.Watches.Tell(slices.Concat(changes.Touched, changes.Woken))
	c.Summaries.Note(changes.ChangedAgents)
	c.Halts.Expect(changes.Halts)
	for _, line := range changes.Warnings {
		c.Config.Log.Warn(line)
	}
}

// Update runs a use case that changes state, and counts it against the caller's rate. It may call fn twice.
func (c *Core) Update(ctx context.Context, caller Caller, do Op, fn func(*Unit) error) error {
	if err := c.Hooks.Admit(caller, do); err != nil {
		return err
	}
	if err := c.Hooks.Limit(ctx, caller); err != nil {
		return err
	}
	if err := c.Hooks.Recovered(ctx); err != nil {
		return err
	}
	return c.Write(ctx, caller, do, fn)
}

// Write is Update for changes that do not count against the caller's rate.
func (c *Core) Write(ctx context.Context, caller Caller, do Op, fn func(*Unit) error) error {
	if err := c.Hooks.Admit(caller, do); err != nil {
		return err
	}
	begun, err := c.Hooks.Count(ctx, caller, do)
	if err != nil {
		return err
	}
	defer begun.End()
	now := c.Now()
	var committed *Unit
	err = c.Store.Update(ctx, func(tx storage.Tx) error {
		u := c.NewUnit(tx)
		u.Now = now
		committed = u
		if err := u.enterFor(caller, do); err != nil {
			return err
		}
		if err := fn(u); err != nil {
			return err
		}
		if u.endsAs != "" {
			u = u.As(parley.Agent{ID: u.endsAs})
		}
		for _, finish := range c.Hooks.BeforeCommit {
			if err := finish(u); err != nil {
				return err
			}
		}
		return u.WriteEvents()
	})
	if err != nil {
		return c.refuse(committed, caller, c.Explain(ctx, caller, err))
	}
	for _, react := range c.Hooks.AfterCommit {
		react(committed.Changes)
	}
	return nil
}

// ViewBytes is how many bytes one use case of an agent may read.
const ViewBytes = 16 << 20

// View runs a use case that only reads.
func (c *Core) View(ctx context.Context, caller Caller, do Op, fn func(*Unit) error) error {
	if err := c.Hooks.Admit(caller, do); err != nil {
		return err
	}
	begun, err := c.Hooks.Count(ctx, caller, do)
	if err != nil {
		return err
	}
	defer begun.End()
	var u *Unit
	err = c.Store.View(ctx, func(tx storage.Tx) error {
		u = c.NewUnit(tx)
		if err := u.enterFor(caller, do); err != nil {
			return err
		}
		if !u.SeesAll() {
			u.LimitBytes(ViewBytes)
		}
		return fn(u)
	})
	return c.refuse(u, caller, c.Explain(ctx, caller, err))
}

// refuse notes err as a refusal if the caller is known, and returns err.
func (c *Core) refuse(u *Unit, caller Caller, err error) error {
	if err != nil && u != nil && u.Me.ID != "" {
		caller.Agent = cmp.Or(u.endsAs, u.Me.ID)
		c.Hooks.Refused(caller, err)
	}
	return err
}

// Me returns the participant that calls. Any credential is good for it.
func (c *Core) Me(ctx context.Context, caller Caller) (me parley.Agent, err error) {
	err = c.View(ctx, caller, OpIdentify, func(u *Unit) error {
		me = u.Me
		return nil
	})
	return me, err
}

// Wrote reports a message that was posted since a moment to the observer.
func (c *Core) Wrote(since time.Time) { c.Config.Observer.Wrote(time.Since(since)) }

// Read reports messages that were read since a moment to the observer, unless the read failed.
func (c *Core) Read(since time.Time, err *error) {
	if *err == nil {
		c.Config.Observer.Read(time.Since(since))
	}
}

// Background is work that a started hub does until ctx ends. The function calls started once it is ready.
type Background = func(ctx context.Context, started func())

// awaitPoll is how often Await looks for changes that other processes wrote.
const awaitPoll = 2 * time.Second

// Await waits until done returns true or an error. It calls done at once, after each change to the subject named by about,
// and every two seconds. It returns ErrWaited when the time is up, and the context's error when the context ends.
func (c *Core) Await(ctx context.Context, about string, wait time.Duration, done func() (bool, error)) error {
	changed, leave := c.Watches.Join(about)
	defer leave()
	poll, end := time.NewTicker(awaitPoll), time.NewTimer(wait)
	defer poll.Stop()
	defer end.Stop()
	for {
		// Subscribed before looking, so that no change is missed.
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-poll.C:
		case <-end.C:
			return ErrWaited
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Regularly calls sweep at the given interval until ctx ends. It logs errors and goes on.
func (c *Core) Regularly(ctx context.Context, started func(), every time.Duration, sweep func(context.Context) error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := sweep(ctx); err != nil && ctx.Err() == nil {
				c.Config.Log.Error("sweeping failed, will try again", "error", err)
			}
		}
	}
}

// Repeat runs part in one update after another until part returns 0. It returns the sum of the results.
func (c *Core) Repeat(ctx context.Context, part func(storage.Tx) (int, error)) (total int, err error) {
	for {
		var n int
		err := c.Store.Update(ctx, func(tx storage.Tx) (err error) {
			n, err = part(tx)
			return err
		})
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}

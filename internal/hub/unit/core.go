package unit

import (
	"cmp"
	"context"
	"log/slog"
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
	InboxSignals   *local.InboxSignals
	TakeCounts     *local.TakeCounts
	Watches        *local.Watches
	Attendance     *local.Attendance
	WokenAgents    *local.DueAgents
	Live           *local.LiveRuns
	BridgeStates   *local.BridgeStates
	ClientSessions *local.ClientSessions
	Halts          local.Halts
	Budgets        local.Budgets
	Summaries      local.Summaries
}

// NewCore returns the core of a hub. The configuration must have its defaults. The hub sets the hooks.
func NewCore(store storage.Store, config Config) *Core {
	c := &Core{
		Store: store, Config: config, Clock: config.Clock, Index: index.NewIndexer(store, config.Log),
		InboxSignals: local.NewInboxSignals(), TakeCounts: local.NewTakeCounts(), Watches: local.NewWatches(), Attendance: local.NewAttendance(),
		WokenAgents: local.NewDueAgents(), Live: local.NewLiveRuns(), BridgeStates: local.NewBridgeStates(),
		ClientSessions: local.NewClientSessions(),
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

// Write is Update for changes that do not count against the caller's rate. It does not finish the recovery after a crash: a use case that
// hands out deliveries calls Hooks.Recovered first.
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

// ObserveWrite reports a message that was posted since a moment to the observer.
func (c *Core) ObserveWrite(since time.Time) { c.Config.Observer.Wrote(time.Since(since)) }

// ObserveRead reports messages that were read since a moment to the observer, unless the read failed.
func (c *Core) ObserveRead(since time.Time, err *error) {
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
				c.Config.Log.Error("a periodic sweep failed; retrying", "error", err)
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

// Config is the configuration of a hub. The zero value of a field means its default.
type Config struct {
	Limits      parley.Limits
	Rate        Rate
	Load        Load
	Retention   Retention
	Loops       Loops
	Tiers       parley.Tiers // which tiers may contact each other; default: parley.DefaultTiers
	Approvals   Approvals
	Asks        Asks
	Node        string        // the name of this process of the hub, the same after a restart; default: hub
	AutoArchive time.Duration // archive conversations idle for this long; 0: never
	SweepEvery  time.Duration // default: a minute
	DueEvery    time.Duration // how often the hub looks for expired leases and other due work; default: a second
	Clock       parley.Clock
	About       parley.HubStatus // the version, the address and others that only the program around the hub knows
	AuditHead   HeadKeeper       // default: the head is not kept outside the database
	Log         *slog.Logger     // default: slog.Default
	Observer    Observer         // default: none

	// Notified reports whether a person can be notified outside of the hub. Default: everybody.
	Notified func(person string) bool

	// UnknownClients returns the agents with a session on this machine whose client was not recognised. Default: none.
	UnknownClients func() []string

	// ClientProcesses returns the processes on this machine that act as agents. Default: none.
	ClientProcesses func() []parley.ClientProcess

	// CheckRuntime returns why the hub cannot run an agent, when the agent's runtime is set: E003 with what to do. Default: nil.
	CheckRuntime func(context.Context, parley.Agent) error

	SetFilesAside func(id string) error
}

// WithDefaults returns the configuration with defaults in place of zero values.
func (c Config) WithDefaults() Config {
	limits := parley.DefaultLimits()
	SetDefault(&c.Limits.Body, limits.Body)
	SetDefault(&c.Limits.Artifact, limits.Artifact)
	SetDefault(&c.Limits.Depth, limits.Depth)
	SetDefault(&c.Limits.Mentions, limits.Mentions)
	if c.Clock == nil {
		c.Clock = wallClock{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	SetDefault(&c.SweepEvery, time.Minute)
	SetDefault(&c.DueEvery, time.Second)
	SetDefault(&c.Retention.Events, eventsKept)
	SetDefault(&c.Approvals.Remind, remindAfter)
	if c.Tiers == nil {
		c.Tiers = parley.DefaultTiers()
	}
	SetDefault(&c.Node, "hub")
	c.Load, c.Loops, c.Asks = c.Load.WithDefaults(), c.Loops.WithDefaults(), c.Asks.WithDefaults()
	return c
}

// eventsKept is how long the hub keeps events unless configured otherwise.
const eventsKept = 7 * 24 * time.Hour

// remindAfter is when the hub first reminds an approver unless configured otherwise.
const remindAfter = time.Hour

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// HeadKeeper keeps the head of the audit log outside the database, so that cutting off the end of the log is noticed.
type HeadKeeper interface {
	// Load returns the head that was saved last, or the zero value if none was.
	Load() (parley.AuditHead, error)
	// Save replaces the saved head.
	Save(parley.AuditHead) error
}

// Approvals configures how long approval requests stay pending and when approvers are reminded.
type Approvals struct {
	Expire time.Duration // 0: for ever
	Remind time.Duration // until the first reminder; the interval then doubles, up to a day; negative: no reminders
}

// Asks limits asks. The zero value of a field means its default.
type Asks struct {
	Wait  time.Duration // for the answer; default: 120 s
	Slots int           // open asks to one agent; default: 16
	Depth int           // asks that are nested in each other; default: 3
}

// WithDefaults fills in what is not configured.
func (a Asks) WithDefaults() Asks {
	SetDefault(&a.Wait, parley.AskWait)
	SetDefault(&a.Slots, 16)
	SetDefault(&a.Depth, 3)
	return a
}

// Loops configures when the hub stops agents that wake each other. The zero value of a field means its default.
type Loops struct {
	Exchanges int           // exchanges in a row, in a pair or along a chain, before the hub stops waking; default: 8
	Quiet     time.Duration // pause after which the count of a pair starts again; default: 10 minutes
	Hops      int           // the most hops of a message that may still wake an agent; default: 32
}

// WithDefaults fills in what is not configured.
func (l Loops) WithDefaults() Loops {
	SetDefault(&l.Exchanges, 8)
	SetDefault(&l.Quiet, 10*time.Minute)
	SetDefault(&l.Hops, 32)
	return l
}

// Rate limits how often one agent may make changes, or read. The zero value means the default. A Burst with a PerSecond of 0
// or less means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Retention configures how much the hub keeps.
type Retention struct {
	Messages  RetentionLimit
	Artifacts RetentionLimit
	Events    time.Duration // default: 7 days; negative: for ever
	Outputs   time.Duration // of runs; 0: for ever
}

// RetentionLimit limits the age and the size of stored things. A field that is 0 does not limit.
type RetentionLimit struct {
	Age   time.Duration
	Bytes int64
}

// Observer measures how long writing and reading messages took. The hub calls it during posts and reads, so it must not
// block.
type Observer interface {
	// Wrote reports how long it took until a message was on disk.
	Wrote(took time.Duration)
	// Read reports how long it took to read messages from a conversation, a context or an inbox, without the time that the
	// caller waited for new messages.
	Read(took time.Duration)
}

// noObserver is the observer of a hub without one.
type noObserver struct{}

func (noObserver) Wrote(time.Duration) {}

func (noObserver) Read(time.Duration) {}

// MaxWith is how many other participants a conversation may be created with.
const MaxWith = 256

// MaxAsks is more than the number of asks that one agent can have open.
const MaxAsks = 10_000

// MaxWait is the longest time that a call may wait, so that a mistake in a request ends at some time.
const MaxWait = 24 * time.Hour

// MinPieceDigits is how many characters a piece of an id has at least if all of them are digits.
const MinPieceDigits = 6

// KeyMemory is how long the hub remembers a sender's idempotency key.
const KeyMemory = 24 * time.Hour

// ReadBatch is how many messages the hub reads at once.
const ReadBatch = 200

// ReadBytes is how many bytes of text one trace or thread returns. Without a limit a thousand messages could have 256 MB.
const ReadBytes = 4 << 20

// SweepBatch is how many rows a sweep changes in one update.
const SweepBatch = 200

// PurgeBatch is how many rows a sweep removes in one update.
const PurgeBatch = 1000

// MaxSuggested is how many names the hub compares to find a suggestion.
const MaxSuggested = 1000

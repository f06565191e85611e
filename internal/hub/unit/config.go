package unit

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-hub/parley"
)

// Config is what a hub can be told. The zero value of a field means its default.
type Config struct {
	Limits      parley.Limits
	Rate        Rate
	Load        Load
	Retention   Retention
	Loops       Loops
	Tiers       parley.Tiers // which tiers may contact each other; default: parley.DefaultTiers
	Approvals   Approvals
	Asks        Asks
	Node        string        // this process of the hub, by a name that outlives it; default: hub
	AutoArchive time.Duration // archive conversations idle for this long; 0: never
	SweepEvery  time.Duration // default: a minute
	DueEvery    time.Duration // how often leases, expiries and the like are looked at; default: a second
	Clock       parley.Clock
	About       parley.HubStatus // what only the program around the hub knows of it: its version, address and so on
	AuditHead   HeadKeeper       // default: nobody keeps it
	Log         *slog.Logger     // failures nobody is told of; default: slog.Default
	Observer    Observer         // default: nobody

	// Notified says who has ways to be told something outside of the hub. Default: everybody.
	Notified func(person string) bool

	// UnknownClients are the agents with a session on this machine whose client was not recognised. Default: none.
	UnknownClients func() []string

	// CheckRuntime says why an agent cannot be run, when its runtime is set. E003 with what to do. Default: anything can.
	CheckRuntime func(context.Context, parley.Agent) error

	// SetFilesAside moves what a removed agent has in the hub's home to where no agent with its id finds it. It is called before
	// another takes the id. To call it again does nothing. Default: there are no files.
	SetFilesAside func(id string) error
}

// WithDefaults fills in what is not configured.
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
		c.Observer = nobody{}
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

// eventsKept is how long events are kept where nothing else is configured.
const eventsKept = 7 * 24 * time.Hour

// remindAfter is when an approver is reminded first, where nothing else is configured.
const remindAfter = time.Hour

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// HeadKeeper keeps the head of the audit log outside the database, so that the log cannot be cut unnoticed.
type HeadKeeper interface {
	// Load returns what was saved last, or zeros.
	Load() (parley.AuditHead, error)
	// Save keeps a head in place of the one before it.
	Save(parley.AuditHead) error
}

// Approvals says how long requests for approvals wait.
type Approvals struct {
	Expire time.Duration // 0: for ever
	Remind time.Duration // the first reminder; each further one after twice the time, at most a day; negative: none
}

// Asks bound what it is to ask somebody. The zero value of a field means its default.
type Asks struct {
	Wait  time.Duration // for the answer; default: 120 s
	Slots int           // open asks to one agent; default: 16
	Depth int           // asks that are nested in each other; default: 3
}

func (a Asks) WithDefaults() Asks {
	SetDefault(&a.Wait, parley.AskWait)
	SetDefault(&a.Slots, 16)
	SetDefault(&a.Depth, 3)
	return a
}

// Loops is when agents that wake each other are held. The zero value of a field means its default.
type Loops struct {
	Exchanges int           // in a row, within a pair or along a chain, after which further ones are held; default: 8
	Quiet     time.Duration // after which those of a pair are counted anew; default: 10 minutes
	Hops      int           // of a message that may still wake an agent; default: 32
}

func (l Loops) WithDefaults() Loops {
	SetDefault(&l.Exchanges, 8)
	SetDefault(&l.Quiet, 10*time.Minute)
	SetDefault(&l.Hops, 32)
	return l
}

// Rate limits how often one agent may change anything, by a message or otherwise. The zero value means
// the default; a burst with a PerSecond of 0 or less means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Retention is how much is kept.
type Retention struct {
	Messages  Keep
	Artifacts Keep
	Events    time.Duration // default: 7 days; negative: for ever
	Outputs   time.Duration // of runs; 0: for ever
}

// Keep is how long and how much of something is kept. What is 0 does not limit.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

// Observer is told, after the fact, how long it took to write and to read messages. It is called by whoever posts or
// reads, so it must not wait.
type Observer interface {
	// Wrote says how long it took until a message was on disk.
	Wrote(took time.Duration)
	// Read says how long it took to read messages: a part of a conversation, a context, an inbox. What somebody has
	// waited for does not count.
	Read(took time.Duration)
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Wrote(time.Duration) {}

func (nobody) Read(time.Duration) {}

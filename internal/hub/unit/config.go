package unit

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-hub/parley"
)

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
	Messages  Keep
	Artifacts Keep
	Events    time.Duration // default: 7 days; negative: for ever
	Outputs   time.Duration // of runs; 0: for ever
}

// Keep limits the age and the size of stored things. A field that is 0 does not limit.
type Keep struct {
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

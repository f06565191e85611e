package unit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// Caller is who calls, as a door has established from its credential, and by which door.
type Caller struct {
	Agent  string
	Source string
	Token  string           // the id of the token it came with; none for the local owner
	Kind   parley.TokenKind // what sort of token that is
	By     string           // the owner who acts as Agent, if one does
	Scopes parley.Scopes    // what the credential may be used for
	Until  *time.Time       // when the credential ends
	Run    string           // the run that calls, if it came with the token of one
	Local  bool             // it came by the local socket
	Trace  string           // the trace that the call is part of, for what neither gives nor inherits one

	Approved bool // it reads now because somebody has approved exactly that; only the hub itself says so

	IsCounted bool   // the call is counted already, see Begin
	AgentUUID string // of the agent with the credential, whose id may be another's by now; none: whoever has the id calls
}

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

// Background is work that a started hub does besides, until ctx ends. It calls started once it is ready.
type Background = func(ctx context.Context, started func())

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

// Hooks are the rules by which subjects take part in every use case, and the consequences of a change for subjects that the
// changing code does not know. New lists them all. They run in the order of their list.
type Hooks struct {
	// Before a use case: whether the credential allows it, whether the caller's rate does, what it counts as while it runs, and
	// whether the hub is ready to change anything.
	Admit     func(Caller, Op) error
	Limit     func(context.Context, Caller) error
	Count     func(context.Context, Caller, Op) (Underway, error)
	Recovered func(context.Context) error

	// heard notes that a participant has called.
	Heard func(*Unit, Caller)

	// refused notes that a use case was refused. hint says what could have been meant by an unknown name.
	Refused func(Caller, error)
	Hint    func(*Unit, Caller, Unknown) (string, error)

	// Within the update: after each step of a delivery; after a delivery has ended in a failure that its sender is told of; before
	// the update ends.
	DeliveryMoved  []func(u *Unit, before, after parley.Delivery) error
	DeliveryFailed []func(u *Unit, d parley.Delivery, cause *parley.Error) error
	BeforeCommit   []func(*Unit) error

	AfterCommit []func(*Changes)

	// tools are the tools whose calls may need an approval.
	Calls map[string]ApprovableCall
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// Now is the time to the millisecond, as it is stored.
func (c *Core) Now() time.Time { return c.Clock.Now().UTC().Truncate(time.Millisecond) }

// Unit is one use case inside one transaction, in the name of one participant. As gives the same transaction in the name of
// another: the participant of a scene never changes.
type Unit struct {
	storage.Tx
	Core *Core
	Me   parley.Agent
	Now  time.Time

	Bridged bool           // what is done comes over a bridge, by a file that carries no credential
	Tree    *parley.Bridge // which one, while a document of it is stored
	// reporting is the message by which an assignee says at present how far its task has come, where it says so by one.
	Reporting *parley.Message
	Finder    string // who finds in its inbox what is said of a task now, by the document itself

	*Changes
}

// Changes are what one transaction has done so far, in whose name ever, and what is to be done once it is committed.
type Changes struct {
	endsAs     string // the participant that a refusal or a summary at the end of the update names
	Events     []parley.Event
	Woken      []string    // the agents with something to take
	Touched    []string    // the ids of the messages, waits, tasks, approvals and conversations in which something has happened
	Warnings   []string    // lines for the log
	Stirred    []string    // the agents whose state has changed
	Retasked   []string    // the agents whose tasks have changed
	Halts      []time.Time // the times at which something is due for halted agents
	Audited    bool        // the audit log has new entries
	NoticesDue bool        // a person is to be told something outside of the hub
	Fetching   bool        // what is acknowledged is so for having been fetched

	Unsettling []parley.Event // after which somebody may see less

	Joined []parley.Bridge // all, once they were read

	UnknownNames []string // names a message mentions that nobody has
	Opened       string   // a channel that was made for a message

	Modes map[string]parley.Answers // of conversations looked at

	CallerRules *Permissions // of who calls, once they were looked at
}

func (c *Core) NewUnit(tx storage.Tx) *Unit {
	return &Unit{Tx: tx, Core: c, Now: c.Now(), Changes: &Changes{}}
}

// As is the same transaction in the name of another participant, with the rights of that one.
func (u *Unit) As(a parley.Agent) *Unit {
	as := *u
	as.Me = a
	return &as
}

// Over is As for the sender of a document that comes over a bridge.
func (u *Unit) Over(b *parley.Bridge, sender parley.Agent) *Unit {
	as := u.As(sender)
	as.Bridged, as.Tree = true, b
	return as
}

// ReportedBy is the same unit while a message says how far a task has come.
func (u *Unit) ReportedBy(m *parley.Message) *Unit {
	as := *u
	as.Reporting = m
	return &as
}

// FoundBy is the same unit while a participant finds in its inbox what a document says of a task.
func (u *Unit) FoundBy(agent string) *Unit {
	as := *u
	as.Finder = agent
	return &as
}

// Wake rings for agents once the update is committed: they have something to take.
func (c *Changes) Wake(agents ...string) { c.Woken = append(c.Woken, agents...) }

// Touch has those look again who wait for something to happen to a message, a wait, a task, an approval or in a conversation.
func (c *Changes) Touch(ids ...string) { c.Touched = append(c.Touched, ids...) }

// Warn writes a line to the log, once the update is committed.
func (c *Changes) Warn(line string) { c.Warnings = append(c.Warnings, line) }

// Stir has the state of an agent looked at again.
func (c *Changes) Stir(agent string) { c.Stirred = append(c.Stirred, agent) }

// Retask has the tasks of agents summed up before the update ends.
func (c *Changes) Retask(agents ...string) { c.Retasked = append(c.Retasked, agents...) }

// HaltUntil has halted agents looked at again when something is due for them.
func (c *Changes) HaltUntil(at ...time.Time) { c.Halts = append(c.Halts, at...) }

// EndAs has the update end in the name of another participant: a refusal, or a summary of what has changed, names that one.
func (u *Unit) EndAs(a parley.Agent) { u.endsAs = a.ID }

// Update runs a use case that changes state, and counts it against the caller's rate. It may run fn
// twice.
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

// Write is update for changes that do not count against the caller's rate.
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

// ViewBytes is how much one use case of an agent reads at once.
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
			u.Bound(ViewBytes)
		}
		return fn(u)
	})
	return c.refuse(u, caller, c.Explain(ctx, caller, err))
}

// enterFor finds the caller, and asks the table whether it may do what it wants to.
func (u *Unit) enterFor(caller Caller, do Op) error {
	if err := u.Enter(caller); err != nil {
		return err
	}
	return u.mayDo(do)
}

// refuse notes an error that is the refusal of a known caller, and returns it.
func (c *Core) refuse(u *Unit, caller Caller, err error) error {
	if err != nil && u != nil && u.Me.ID != "" {
		caller.Agent = cmp.Or(u.endsAs, u.Me.ID)
		c.Hooks.Refused(caller, err)
	}
	return err
}

func (u *Unit) Enter(caller Caller) error {
	if caller.Kind == parley.TokenReply {
		return ErrReplyOnly()
	}
	me, err := u.Agents().Find(caller.Agent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && (me.RemovedAt != nil || caller.AgentUUID != "" && caller.AgentUUID != me.UUID) {
		return parley.Errorf(parley.NotPermitted, "%s is not a participant of this hub", caller.Agent).
			Suggest("ask an owner of this hub to add it")
	}
	u.Me, u.Bridged = me, caller.Source == Bridged
	u.Core.Hooks.Heard(u, caller)
	return err
}

// Note adds an event; it is written with the update.
func (u *Unit) Note(e parley.Event) {
	e.At, e.By = u.Now, u.Me.ID
	u.Events = append(u.Events, e)
	if Unsettles(e) {
		u.Unsettling = append(u.Unsettling, e)
	}
}

// WriteEvents writes what has been noted so far.
func (u *Unit) WriteEvents() error {
	noted := u.Events
	u.Events = nil
	return u.Log().Append(noted...)
}

func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("hub: the system has no randomness: " + err.Error())
	}
	return id.String()
}

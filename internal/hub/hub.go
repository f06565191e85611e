// Package hub holds the use cases: everything a door can ask for. Each checks its input, checks
// the caller's rights, and changes state in one transaction; results and wake-ups leave only
// after the commit.
package hub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/service"
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

	underway bool   // the call is counted already, see Begin
	uuid     string // of the agent with the credential, whose id may be another's by now; none: whoever has the id calls
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

// Hub is the use cases on one store. It is safe for concurrent use.
type Hub struct {
	store  parley.Store
	config Config
	clock  parley.Clock
	rate   *limiter
	load   *load
	stream *stream
	bells  *bells
	turns  *turns
	index  *indexer

	strangers  *strangers
	refusals   *refusals
	heads      *heads
	holds      *holds
	readings   *readings
	watches    *watches
	attendance *attendance
	rung       *rung
	bridges    *bridgeStates
	live       *liveRuns
	announcing sync.Mutex // held while who has come or gone is written down
	halts      halts
	budgets    budgets
	summaries  summaries
	followers  followers

	started   time.Time
	totals    totals
	backingUp sync.Mutex // held by a backup
	reusing   sync.Mutex // held while an agent takes the names of a removed one

	noticesCome chan struct{} // somebody is to be told something

	wasteDue atomic.Bool // there may be bodies of artifacts without a row

	recovery  recovery
	readiness readiness

	sweeping sync.Mutex // held by a sweep
	alerts   alerts
	damage   damageLog
	quiet    parley.QuietMark // how far sweeps have looked for damaged deliveries that wake nobody; used under sweeping

	services []*service.Service

	hooks hooks
}

// hooks are the rules by which subjects take part in every use case, and the consequences of a change for subjects that the
// changing code does not know. New lists them all. They run in the order of their list.
type hooks struct {
	// Before a use case: whether the credential allows it, whether the caller's rate does, what it counts as while it runs, and
	// whether the hub is ready to change anything.
	admit     func(Caller, op) error
	limit     func(context.Context, Caller) error
	count     func(context.Context, Caller, op) (Underway, error)
	recovered func(context.Context) error

	// heard notes that a participant has called.
	heard func(*scene, Caller)

	// refused notes that a use case was refused. hint says what could have been meant by an unknown name.
	refused func(Caller, error)
	hint    func(*scene, Caller, unknown) (string, error)

	// Within the update: after each step of a delivery; after a delivery has ended in a failure that its sender is told of; before
	// the update ends.
	deliveryMoved  []func(s *scene, before, after parley.Delivery) error
	deliveryFailed []func(s *scene, d parley.Delivery, cause *parley.Error) error
	beforeCommit   []func(*scene) error

	afterCommit []func(*changes)

	// tools are the tools whose calls may need an approval.
	tools map[string]heldTool
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// New makes a hub on a store and adds the two participants every hub has: the system itself and
// the person who set it up.
func New(ctx context.Context, store parley.Store, config Config) (*Hub, error) {
	limits := parley.DefaultLimits()
	setDefault(&config.Limits.Body, limits.Body)
	setDefault(&config.Limits.Artifact, limits.Artifact)
	setDefault(&config.Limits.Depth, limits.Depth)
	setDefault(&config.Limits.Mentions, limits.Mentions)
	if config.Clock == nil {
		config.Clock = wallClock{}
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	if config.Observer == nil {
		config.Observer = nobody{}
	}
	setDefault(&config.SweepEvery, time.Minute)
	setDefault(&config.DueEvery, time.Second)
	setDefault(&config.Retention.Events, eventsKept)
	setDefault(&config.Approvals.Remind, remindAfter)
	if config.Tiers == nil {
		config.Tiers = parley.DefaultTiers()
	}
	setDefault(&config.Node, "hub")
	config.Load = config.Load.withDefaults()
	config.Loops, config.Asks = config.Loops.withDefaults(), config.Asks.withDefaults()
	h := &Hub{
		store: store, config: config, clock: config.Clock, rate: newLimiter(config.Rate), load: newLoad(config.Load), stream: newStream(store),
		index: newIndexer(store, config.Log), bells: newBells(), turns: newTurns(),
		strangers: newStrangers(), readings: newReadings(), watches: newWatches(), attendance: newAttendance(),
		rung: newRung(), live: newLiveRuns(), bridges: newBridgeStates(), noticesCome: make(chan struct{}, 1),
	}
	h.heads = newHeads(store, config.AuditHead, config.Log)
	h.refusals = newRefusals(h, h.heads)
	h.holds = newHolds(h)
	h.hooks = hooks{
		admit: h.admits, limit: h.limit, count: h.count, recovered: h.recovered,
		heard:          (*scene).heard,
		refused:        h.noteRefusal,
		hint:           (*scene).hintFor,
		deliveryMoved:  []func(s *scene, before, after parley.Delivery) error{(*scene).copyAnswered, (*scene).purposeMoved, (*scene).turnMoved},
		deliveryFailed: []func(s *scene, d parley.Delivery, cause *parley.Error) error{(*scene).tellFailed},
		beforeCommit:   []func(*scene) error{(*scene).sumUpTasks},
		afterCommit:    h.reactions(),
		tools:          heldTools(contactTools(), h.postTools(), h.taskTools(), h.readTools(), conversationTools()),
	}
	h.services = []*service.Service{
		service.New(h.stream.run), service.New(h.index.run), service.New(h.sweepRegularly), service.New(h.sweepOften),
		service.New(h.heads.run), service.New(h.refusals.run), service.New(h.holds.follow),
		service.New(h.expireHolds), service.New(h.showProgress), service.New(h.watchDamage), service.New(h.announceArrivals),
	}
	h.started = h.now()
	h.wasteDue.Store(true) // a crash may have left some
	return h, h.addFirstAgents(ctx)
}

// Start returns the leases of a former process of the hub, starts the background work and waits until it is ready.
func (h *Hub) Start(ctx context.Context) {
	if err := h.Recover(ctx); err != nil {
		h.config.Log.Error("cannot return the leases of the hub's former process; retrying", "error", err, "every", h.config.DueEvery)
	}
	for _, s := range h.services {
		s.Start(ctx)
		<-s.Started()
	}
}

// Stop ends what Start started. The store stays open.
func (h *Hub) Stop() {
	for i := len(h.services) - 1; i >= 0; i-- {
		h.services[i].Stop()
	}
}

// now is the time to the millisecond, as it is stored.
func (h *Hub) now() time.Time { return h.clock.Now().UTC().Truncate(time.Millisecond) }

// scene is one use case inside one transaction, in the name of one participant. As gives the same transaction in the name of
// another: the participant of a scene never changes.
type scene struct {
	parley.Tx
	hub *Hub
	me  parley.Agent
	now time.Time

	bridged bool           // what is done comes over a bridge, by a file that carries no credential
	tree    *parley.Bridge // which one, while a document of it is stored
	// reporting is the message by which an assignee says at present how far its task has come, where it says so by one.
	reporting *parley.Message
	finder    string // who finds in its inbox what is said of a task now, by the document itself

	*changes
}

// changes are what one transaction has done so far, in whose name ever, and what is to be done once it is committed.
type changes struct {
	endsAs   string // the participant that a refusal or a summary at the end of the update names
	events   []parley.Event
	woken    []string    // the agents with something to take
	touched  []string    // the ids of the messages, waits, tasks, approvals and conversations in which something has happened
	warnings []string    // lines for the log
	stirred  []string    // the agents whose state has changed
	retasked []string    // the agents whose tasks have changed
	halts    []time.Time // the times at which something is due for halted agents
	audited  bool        // the audit log has new entries
	notices  bool        // a person is to be told something outside of the hub
	fetching bool        // what is acknowledged is so for having been fetched

	unsettling []parley.Event // after which somebody may see less

	joined []parley.Bridge // all, once they were read

	unknown []string // names a message mentions that nobody has
	opened  string   // a channel that was made for a message

	modes map[string]parley.Answers // of conversations looked at

	permissions *permissions // of who calls, once they were looked at
}

func (h *Hub) newScene(tx parley.Tx) *scene {
	return &scene{Tx: tx, hub: h, now: h.now(), changes: &changes{}}
}

// As is the same transaction in the name of another participant, with the rights of that one.
func (s *scene) As(a parley.Agent) *scene {
	as := *s
	as.me = a
	return &as
}

// over is As for the sender of a document that comes over a bridge.
func (s *scene) over(b *parley.Bridge, sender parley.Agent) *scene {
	as := s.As(sender)
	as.bridged, as.tree = true, b
	return as
}

// reportedBy is the same unit while a message says how far a task has come.
func (s *scene) reportedBy(m *parley.Message) *scene {
	as := *s
	as.reporting = m
	return &as
}

// foundBy is the same unit while a participant finds in its inbox what a document says of a task.
func (s *scene) foundBy(agent string) *scene {
	as := *s
	as.finder = agent
	return &as
}

// wake rings for agents once the update is committed: they have something to take.
func (c *changes) wake(agents ...string) { c.woken = append(c.woken, agents...) }

// touch has those look again who wait for something to happen to a message, a wait, a task, an approval or in a conversation.
func (c *changes) touch(ids ...string) { c.touched = append(c.touched, ids...) }

// warn writes a line to the log, once the update is committed.
func (c *changes) warn(line string) { c.warnings = append(c.warnings, line) }

// stir has the state of an agent looked at again.
func (c *changes) stir(agent string) { c.stirred = append(c.stirred, agent) }

// retask has the tasks of agents summed up before the update ends.
func (c *changes) retask(agents ...string) { c.retasked = append(c.retasked, agents...) }

// haltUntil has halted agents looked at again when something is due for them.
func (c *changes) haltUntil(at ...time.Time) { c.halts = append(c.halts, at...) }

// endAs has the update end in the name of another participant: a refusal, or a summary of what has changed, names that one.
func (s *scene) endAs(a parley.Agent) { s.endsAs = a.ID }

// update runs a use case that changes state, and counts it against the caller's rate. It may run fn
// twice.
func (h *Hub) update(ctx context.Context, caller Caller, do op, fn func(*scene) error) error {
	if err := h.hooks.admit(caller, do); err != nil {
		return err
	}
	if err := h.hooks.limit(ctx, caller); err != nil {
		return err
	}
	if err := h.hooks.recovered(ctx); err != nil {
		return err
	}
	return h.write(ctx, caller, do, fn)
}

// write is update for changes that do not count against the caller's rate.
func (h *Hub) write(ctx context.Context, caller Caller, do op, fn func(*scene) error) error {
	if err := h.hooks.admit(caller, do); err != nil {
		return err
	}
	begun, err := h.hooks.count(ctx, caller, do)
	if err != nil {
		return err
	}
	defer begun.End()
	now := h.now()
	var committed *scene
	err = h.store.Update(ctx, func(tx parley.Tx) error {
		s := h.newScene(tx)
		s.now = now
		committed = s
		if err := s.enterFor(caller, do); err != nil {
			return err
		}
		if err := fn(s); err != nil {
			return err
		}
		if s.endsAs != "" {
			s = s.As(parley.Agent{ID: s.endsAs})
		}
		for _, finish := range h.hooks.beforeCommit {
			if err := finish(s); err != nil {
				return err
			}
		}
		return s.writeEvents()
	})
	if err != nil {
		return h.refuse(committed, caller, h.explain(ctx, caller, err))
	}
	for _, react := range h.hooks.afterCommit {
		react(committed.changes)
	}
	return nil
}

// reactions are what the hub does after each commit, in this order.
func (h *Hub) reactions() []func(*changes) {
	return []func(*changes){
		func(c *changes) {
			h.stream.doubt(c.unsettling)
			h.stream.poke()
			h.index.poke()
			h.followers.poke()
		},
		func(c *changes) {
			if c.audited {
				h.heads.poke()
			}
		},
		func(c *changes) {
			h.bells.ring(c.woken...)
			h.rung.note(c.woken)
			h.watches.tell(slices.Concat(c.touched, c.woken))
			h.summaries.note(c.stirred)
		},
		func(c *changes) {
			if c.notices {
				signal(h.noticesCome)
			}
		},
		func(c *changes) { h.halts.expect(c.halts) },
		func(c *changes) {
			for _, line := range c.warnings {
				h.config.Log.Warn(line)
			}
		},
	}
}

// viewBytes is how much one use case of an agent reads at once.
const viewBytes = 16 << 20

// view runs a use case that only reads.
func (h *Hub) view(ctx context.Context, caller Caller, do op, fn func(*scene) error) error {
	if err := h.hooks.admit(caller, do); err != nil {
		return err
	}
	begun, err := h.hooks.count(ctx, caller, do)
	if err != nil {
		return err
	}
	defer begun.End()
	var s *scene
	err = h.store.View(ctx, func(tx parley.Tx) error {
		s = h.newScene(tx)
		if err := s.enterFor(caller, do); err != nil {
			return err
		}
		if !s.seesAll() {
			s.Bound(viewBytes)
		}
		return fn(s)
	})
	return h.refuse(s, caller, h.explain(ctx, caller, err))
}

// enterFor finds the caller, and asks the table whether it may do what it wants to.
func (s *scene) enterFor(caller Caller, do op) error {
	if err := s.enter(caller); err != nil {
		return err
	}
	return s.mayDo(do)
}

// refuse notes an error that is the refusal of a known caller, and returns it.
func (h *Hub) refuse(s *scene, caller Caller, err error) error {
	if err != nil && s != nil && s.me.ID != "" {
		caller.Agent = cmp.Or(s.endsAs, s.me.ID)
		h.hooks.refused(caller, err)
	}
	return err
}

func (s *scene) enter(caller Caller) error {
	if caller.Kind == parley.TokenReply {
		return errReplyOnly()
	}
	me, err := s.Agents().Find(caller.Agent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && (me.RemovedAt != nil || caller.uuid != "" && caller.uuid != me.UUID) {
		return parley.Errorf(parley.NotPermitted, "%s is not a participant of this hub", caller.Agent).
			Suggest("ask an owner of this hub to add it")
	}
	s.me, s.bridged = me, caller.Source == bridged
	s.hub.hooks.heard(s, caller)
	return err
}

// note adds an event; it is written with the update.
func (s *scene) note(e parley.Event) {
	e.At, e.By = s.now, s.me.ID
	s.events = append(s.events, e)
	if unsettles(e) {
		s.unsettling = append(s.unsettling, e)
	}
}

// writeEvents writes what has been noted so far.
func (s *scene) writeEvents() error {
	noted := s.events
	s.events = nil
	return s.Log().Append(noted...)
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("hub: the system has no randomness: " + err.Error())
	}
	return id.String()
}

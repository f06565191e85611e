// Package hub holds the use cases: everything a door can ask for. Each checks its input, checks
// the caller's rights, and changes state in one transaction; results and wake-ups leave only
// after the commit.
package hub

import (
	"context"
	"errors"
	"log/slog"
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
	Token  string        // the id of the token it came with; none for the local owner
	By     string        // the owner who acts as Agent, if one does
	Scopes parley.Scopes // what the credential may be used for
	Until  *time.Time    // when the credential ends
}

// Config is what a hub can be told. The zero value of a field means its default.
type Config struct {
	Limits      parley.Limits
	Rate        Rate
	Retention   Retention
	AutoArchive time.Duration // archive conversations idle for this long; 0: never
	SweepEvery  time.Duration // default: a minute
	DueEvery    time.Duration // how often leases, expiries and the like are looked at; default: a second
	Clock       parley.Clock
	Log         *slog.Logger // failures nobody is told of; default: slog.Default
}

// Hub is the use cases on one store. It is safe for concurrent use.
type Hub struct {
	store  parley.Store
	config Config
	clock  parley.Clock
	rate   *limiter
	tail   *tail
	bells  *bells
	turns  *turns
	index  *indexer

	wasteDue atomic.Bool // there may be bodies of artifacts without a row

	sweeping sync.Mutex // held by a sweep
	diskLow  bool       // and whoever follows the events knows

	services []*service.Service
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
	setDefault(&config.SweepEvery, time.Minute)
	setDefault(&config.DueEvery, time.Second)
	setDefault(&config.Retention.Events, eventsKept)
	h := &Hub{
		store: store, config: config, clock: config.Clock, rate: newLimiter(config.Rate), tail: newTail(store),
		index: newIndexer(store, config.Log), bells: newBells(), turns: newTurns(),
	}
	h.services = []*service.Service{
		service.New(h.tail.run), service.New(h.index.run), service.New(h.sweepRegularly), service.New(h.sweepOften),
	}
	h.wasteDue.Store(true) // a crash may have left some
	return h, h.addFirstAgents(ctx)
}

// Start starts what runs in the background and waits until it is ready.
func (h *Hub) Start(ctx context.Context) {
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

// scene is one use case inside one transaction: who calls, and what has happened so far.
type scene struct {
	parley.Tx
	hub      *Hub
	me       parley.Agent
	now      time.Time
	events   []parley.Event
	woken    []string // who has something to take, once this is committed
	warnings []string // for the log, then

	strangers []string // names a message mentions that nobody has
}

// update runs a use case that changes state, and counts it against the caller's rate. It may run fn
// twice.
func (h *Hub) update(ctx context.Context, caller Caller, fn func(*scene) error) error {
	if err := h.limit(ctx, caller); err != nil {
		return err
	}
	return h.write(ctx, caller, fn)
}

func (h *Hub) write(ctx context.Context, caller Caller, fn func(*scene) error) error {
	now := h.now()
	var committed *scene
	err := h.store.Update(ctx, func(tx parley.Tx) error {
		s := &scene{Tx: tx, hub: h, now: now}
		committed = s
		if err := s.enter(caller); err != nil {
			return err
		}
		if err := fn(s); err != nil {
			return err
		}
		return s.writeEvents()
	})
	if err != nil {
		return h.explain(ctx, caller, err)
	}
	h.tail.poke()
	h.index.poke()
	h.bells.ring(committed.woken...)
	for _, line := range committed.warnings {
		h.config.Log.Warn(line)
	}
	return nil
}

// view runs a use case that only reads.
func (h *Hub) view(ctx context.Context, caller Caller, fn func(*scene) error) error {
	err := h.store.View(ctx, func(tx parley.Tx) error {
		s := &scene{Tx: tx, hub: h, now: h.now()}
		if err := s.enter(caller); err != nil {
			return err
		}
		return fn(s)
	})
	return h.explain(ctx, caller, err)
}

func (s *scene) enter(caller Caller) error {
	me, err := s.Agents().Find(caller.Agent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && me.RemovedAt != nil {
		return parley.Errorf(parley.NotPermitted, "%s is not a participant of this hub", caller.Agent).
			Suggest("ask an owner of this hub to add it")
	}
	s.me = me
	return err
}

// note adds an event; it is written with the update.
func (s *scene) note(e parley.Event) {
	e.At, e.By = s.now, s.me.ID
	s.events = append(s.events, e)
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

package feed

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/service"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	followBatch    = 200
	followPoll     = 2 * time.Second // for events by other processes
	minFollowPause = 100 * time.Millisecond
	maxFollowPause = 10 * time.Second // the pause doubles up to this
)

// Follower takes all events, in order.
type Follower interface {
	// Take takes the next events. If it returns an error, the hub calls it again with the same events, without deleted ones and
	// with those that came since: at once for ErrReadAgain, after a pause for other errors. Another process that follows by the
	// same name may get the same events.
	Take(ctx context.Context, batch []Followed) error
}

// ErrReadAgain is the error of a follower that has waited so long that it needs the events as they are now.
var ErrReadAgain = errors.New("read it again")

// Followed is an event. A message.posted event has the message and its deliveries as they were when the hub read them. A
// message that was redacted by then has no content; a deleted message has no event. The event of a run's end has the run, unless
// the run was deleted or its row cannot be read.
type Followed struct {
	parley.Event
	Posted     *parley.Message
	Deliveries []parley.Delivery
	EndedRun   *parley.Run
}

// Follow makes a service that gives a follower all events, each at least once, also through restarts. It starts at the newest
// event if nobody has followed by this name before, or else at the stored cursor of that name.
func (s *Service) Follow(name string, f Follower) *service.Service {
	return service.New((&followLoop{hub: s, follower: f, cursor: newCursor(s.Store, name), wake: make(chan struct{}, 1)}).run)
}

// followers are the running followers of this process. Each commit wakes them.
type followers struct {
	mu  sync.Mutex
	all map[*followLoop]struct{}
}

func (f *followers) wakeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for loop := range f.all {
		local.Signal(loop.wake)
	}
}

func (f *followers) add(loop *followLoop) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[*followLoop]struct{}{}
	}
	f.all[loop] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.all, loop)
	}
}

// lags returns how many events up to the newest each follower has not taken yet, by its name. A follower that has not begun is
// left out.
func (f *followers) lags(newest int64) map[string]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := map[string]int64{}
	for loop := range f.all {
		if at, begun := loop.lastTaken(); begun {
			behind[loop.name] = max(newest-at, 0)
		}
	}
	return behind
}

// followLoop gives one follower its events.
type followLoop struct {
	*cursor
	hub      *Service
	follower Follower
	wake     chan struct{}
	gap      int64 // the oldest event of the last gap in the log that a warning was logged for
}

func (f *followLoop) run(ctx context.Context, started func()) {
	defer f.hub.followers.add(f)()
	defer f.saveAtStop(ctx)
	again := time.NewTicker(followPoll)
	defer again.Stop()
	pause := minFollowPause
	err := f.begin(ctx)
	started()
	for {
		if err == nil {
			err = f.catchUp(ctx)
		}
		if err == nil {
			pause = minFollowPause
			select {
			case <-f.wake:
			case <-again.C:
			case <-f.saveTimer:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.hub.Config.Log.Warn("cannot pass the next events to a follower; retrying", "follower", f.name, "in", pause, "error", err)
			sleep(ctx, pause)
			pause, err = min(2*pause, maxFollowPause), nil
		}
	}
}

// saveAtStop stores the cursor, so that the next process does not repeat events.
func (f *followLoop) saveAtStop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxFollowPause)
	defer cancel()
	if err := f.save(ctx); err != nil {
		f.hub.Config.Log.Warn("cannot store the position of a follower; it gets its last events again after the next start", "follower", f.name, "error", err)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// catchUp gives the follower all events that there are.
func (f *followLoop) catchUp(ctx context.Context) error {
	for {
		more, err := f.step(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// step gives the follower the next events, and reports whether there may be more.
func (f *followLoop) step(ctx context.Context) (more bool, err error) {
	if f.saveIsDue() {
		if err := f.save(ctx); err != nil {
			return false, err
		}
	}
	batch, err := f.read(ctx)
	if err != nil || len(batch) == 0 {
		return false, err
	}
	switch err := f.follower.Take(ctx, batch); {
	case errors.Is(err, ErrReadAgain):
		return true, nil
	case err != nil:
		return false, err
	}
	f.advance(batch)
	return true, nil
}

// read returns the next events: at most followBatch, fewer if their messages are large.
func (f *followLoop) read(ctx context.Context) (batch []Followed, err error) {
	err = f.hub.Store.View(ctx, func(tx storage.Tx) error {
		after, err := f.position(tx)
		if err != nil {
			return err
		}
		if err := f.warnOfGap(tx, after); err != nil {
			return err
		}
		events, err := tx.Log().Events(after, followBatch)
		if err != nil {
			return err
		}
		batch, err = withSubjects(tx, after, events)
		return err
	})
	return batch, err
}

// withSubjects adds to events the messages and runs that they are about. It stops before the first event whose message was not
// read.
func withSubjects(tx storage.Tx, after int64, events []parley.Event) ([]Followed, error) {
	messages, err := tx.Messages().Scan(after, followBatch)
	if err != nil {
		return nil, err
	}
	batch := make([]Followed, 0, len(events))
	for _, e := range events {
		loop := Followed{Event: e}
		if e.Kind == parley.EventMessagePosted {
			if len(messages) == 0 {
				return batch, nil
			}
			loop.Posted, messages = &messages[0], messages[1:]
			if loop.Deliveries, err = tx.Deliveries().OfMessage(e.Message); err != nil {
				return nil, err
			}
		}
		if loop.EndedRun, err = endedRun(tx, e); err != nil {
			return nil, err
		}
		batch = append(batch, loop)
	}
	return batch, nil
}

// endedRun returns the run whose end an event reports. It returns nil for other events, for a deleted run, and for one whose row
// cannot be read.
func endedRun(tx storage.Tx, e parley.Event) (*parley.Run, error) {
	var data struct {
		Run   string
		State parley.RunState
	}
	if !e.Kind.Within("run") || json.Unmarshal(e.Data, &data) != nil || !data.State.Known() || data.State.Live() {
		return nil, nil
	}
	defer tx.SkipUnreadable(nil)()
	r, err := tx.Runs().Get(data.Run)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	r.State = data.State
	return &r, err
}

// warnOfGap logs a warning, once for each gap, if events have become too old and were erased before the follower took them.
// Messages stay until they are erased themselves.
func (f *followLoop) warnOfGap(tx storage.Tx, after int64) error {
	oldest, _, err := tx.Log().Bounds()
	if err == nil && after+1 < oldest && f.gap != oldest {
		f.gap = oldest
		f.hub.Config.Log.Warn("the hub erased events before a follower took them; the follower does not get them", "follower", f.name, "taken", after, "oldest", oldest)
	}
	return err
}

const (
	awaitFollowerTimeout = time.Second
	awaitFollowerPoll    = 5 * time.Millisecond
)

// AwaitFollower waits until a follower of this process has taken the events so far, but not longer than awaitFollowerTimeout.
func (s *Service) AwaitFollower(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, awaitFollowerTimeout)
	defer cancel()
	var upTo int64
	err := s.Store.View(ctx, func(tx storage.Tx) (err error) {
		_, upTo, err = tx.Log().Bounds()
		return err
	})
	for err == nil && ctx.Err() == nil {
		if s.followers.lags(upTo)[name] == 0 {
			return // also if no such follower runs in this process
		}
		sleep(ctx, awaitFollowerPoll)
	}
}

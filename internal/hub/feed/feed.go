// Package feed holds streams and followers of events, cut to what the caller may see; what needs a person's attention.
//
// One reader follows the log while there are subscribers. For each batch it finds out, in one view, which participants may see
// each event. It puts the event into the queues of their subscribers and wakes only these.
//
// A subscriber is either live or behind. A subscriber that is behind reads the store itself, one page a view, until a view has
// shown it everything; then it is live. Its queue is bounded. When the queue is full, or when its participant may see less than
// before, the hub drops the queue and the subscriber is behind. So a slow reader holds up nobody and misses nothing. The rule on
// who may see an event stands in one place, events.go. One lock guards the queues; code that holds it calls nothing else.
//
// Queues hold pointers to events that all subscribers share, and a subscriber gets at most 32 events at once. So a stalled reader
// costs a few KiB, whatever its backlog.
package feed

import (
	"cmp"
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	presence *presence.Service

	stream    *stream
	followers followers
}

// Background returns the loop that feeds all streams of events.
func Background(s *Service) []unit.Background { return []unit.Background{s.stream.run} }

// StepStream gives subscribers the events since the last step, and reports whether there may be more.
func StepStream(ctx context.Context, s *Service) (more bool) { return s.stream.step(ctx) }

// CountStreams returns how many streams of events are open.
func CountStreams(s *Service) int { return s.stream.subscriberCount() }

// FollowerLags returns how many events up to the newest each follower has not taken yet, by its name. A follower that has not begun
// is left out.
func FollowerLags(s *Service, newest int64) map[string]int64 { return s.followers.lags(newest) }

// AfterCommit returns the function that wakes streams and followers after a commit.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		s.stream.dropUnreadable(c.VisibilityReduced)
		s.stream.wakeUp()
		s.followers.wakeAll()
	}
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, presence *presence.Service) *Service {
	s := &Service{Core: core, presence: presence}
	s.stream = newStream(core.Store)
	return s
}

// LogFilter replaces the names in a filter by ids, so that it selects lines of the message log. The filter may name a trace by
// the id of one of its messages, and an agent by any of its names, even if the agent was removed. Only owners may call it.
func (s *Service) LogFilter(ctx context.Context, caller unit.Caller, f parley.LogFilter) (parley.LogFilter, error) {
	err := s.View(ctx, caller, unit.OpReadLog, func(u *unit.Unit) (err error) {
		if err := f.Check(); err != nil {
			return err
		}
		if f.Trace, err = wholeTrace(u, f.Trace); err != nil {
			return err
		}
		f.Agent, err = agents.Named(u, f.Agent)
		return err
	})
	return f, err
}

// wholeTrace returns the id of the trace that an id names: the trace itself, or the trace of a message, run, approval or task.
func wholeTrace(u *unit.Unit, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	m, err := reading.FindTracedMessage(u, id)
	if err != nil {
		return "", err
	}
	if m != nil {
		return m.TraceID, nil
	}
	named, err := names.TraceOfWork(u, id)
	return cmp.Or(named, id), err
}

// LastEvent returns the number of the newest event. A caller that wants only new events subscribes after it.
func (s *Service) LastEvent(ctx context.Context, caller unit.Caller) (newest int64, err error) {
	err = s.View(ctx, caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		_, newest, err = u.Log().Bounds()
		return err
	})
	return newest, err
}

// checkLogReaches returns E003 if the log has no position after this event: it was erased, or does not exist yet.
func checkLogReaches(after, oldest, newest int64) error {
	var err *parley.Error
	switch {
	case after+1 >= oldest && after <= newest:
		return nil
	case oldest > newest:
		err = parley.Errorf(parley.BadInput, "the event log has no events up to %d left, so it cannot continue from %d", newest, after)
	default:
		err = parley.Errorf(parley.BadInput, "the event log goes from %d to %d and cannot continue from %d", oldest, newest, after)
	}
	return err.Because(parley.NotFound).Suggest("read the current state, then follow from %d", newest)
}

package feed

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/presence"
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
		s.stream.dropUnreadable(c.Unsettling)
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

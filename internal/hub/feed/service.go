package feed

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	presence *presence.Service

	stream    *stream
	followers followers
}

// Background feeds all streams of events.
func Background(s *Service) []unit.Background { return []unit.Background{s.stream.run} }

// Step passes on what has happened since the last step, and reports whether there is more.
func Step(ctx context.Context, s *Service) (more bool) { return s.stream.step(ctx) }

// OpenStreams is how many streams of events are open.
func OpenStreams(s *Service) int { return s.stream.subscriberCount() }

// Behind is how many events up to the newest each follower that has begun has not been told yet, by its name.
func Behind(s *Service, newest int64) map[string]int64 { return s.followers.lags(newest) }

// AfterCommit has streams and followers read on.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		s.stream.dropUnreadable(c.Unsettling)
		s.stream.wakeUp()
		s.followers.wakeAll()
	}
}

// New makes the use cases on the core of a hub, and on those of other packages that they use.
func New(core *unit.Core, presence *presence.Service) *Service {
	s := &Service{Core: core, presence: presence}
	s.stream = newStream(core.Store)
	return s
}

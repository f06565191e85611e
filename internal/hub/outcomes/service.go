package outcomes

import (
	"github.com/parley-hub/parley/internal/hub/decisions"
	"github.com/parley-hub/parley/internal/hub/delegation"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names      *names.Service
	delegation *delegation.Service
	reading    *reading.Service
	feed       *feed.Service
	decisions  *decisions.Service

	calls *longCalls
}

// Background returns the loops that end long calls whose credential has ended.
func Background(s *Service) []unit.Background {
	return []unit.Background{s.calls.follow, s.expireCalls}
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service, delegation *delegation.Service, reading *reading.Service, feed *feed.Service, decisions *decisions.Service) *Service {
	s := &Service{Core: core, names: names, delegation: delegation, reading: reading, feed: feed, decisions: decisions}
	s.calls = newLongCalls(s)
	return s
}

package alerts

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core

	Alerts alerts
	damage damageLog
}

// Background looks for damaged rows that the store has met.
func Background(s *Service) []unit.Background { return []unit.Background{s.watchDamage} }

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

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

// Background returns the background task that watches for damage.
func Background(s *Service) []unit.Background { return []unit.Background{s.watchDamage} }

// New makes the use cases from the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

package runs

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// Background returns the work of this package: writing events about the progress of live runs.
func Background(s *Service) []unit.Background { return []unit.Background{s.showProgress} }

// New returns the use cases of this package on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

package runs

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// Background writes down what runs say, while they say something.
func Background(s *Service) []unit.Background { return []unit.Background{s.showProgress} }

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

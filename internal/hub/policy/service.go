package policy

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// New returns the use cases of this package on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

package channels

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
}

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

package bridges

import (
	"github.com/parley-hub/parley/internal/hub/roster"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	roster *roster.Service
}

// New makes the use cases on the core of a hub, and on those of other packages that they use.
func New(core *unit.Core, roster *roster.Service) *Service {
	return &Service{Core: core, roster: roster}
}

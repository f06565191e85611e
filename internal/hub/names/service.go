package names

import (
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
}

// New makes the use cases from the core of a hub and from the use cases of other packages.
func New(core *unit.Core, access *access.Service) *Service {
	return &Service{Core: core, access: access}
}

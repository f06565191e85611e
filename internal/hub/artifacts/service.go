package artifacts

import (
	"sync/atomic"

	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
	alerts *alerts.Service

	WasteDue atomic.Bool // bodies without a row may exist
}

// New makes the use cases from the core of a hub and from the use cases of other packages.
func New(core *unit.Core, access *access.Service, alerts *alerts.Service) *Service {
	s := &Service{Core: core, access: access, alerts: alerts}
	s.WasteDue.Store(true) // after a crash
	return s
}

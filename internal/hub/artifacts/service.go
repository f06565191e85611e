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

	WasteDue atomic.Bool // there may be bodies of artifacts without a row
}

// New makes the use cases on the core of a hub, and on those of other packages that they use.
func New(core *unit.Core, access *access.Service, alerts *alerts.Service) *Service {
	s := &Service{Core: core, access: access, alerts: alerts}
	s.WasteDue.Store(true) // a crash may have left some
	return s
}

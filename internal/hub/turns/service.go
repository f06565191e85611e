package turns

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names *names.Service

	recovery recovery
}

// Hook delays every change until the leases of a former process of the hub are returned.
func Hook(s *Service, hooks *unit.Hooks) {
	hooks.Recovered = func(ctx context.Context) error { return FinishRecovery(ctx, s) }
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service) *Service {
	return &Service{Core: core, names: names}
}

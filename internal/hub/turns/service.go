package turns

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	names *names.Service

	recovery recovery
}

// Hook has every change wait until what a former process of the hub has left is put back.
func Hook(s *Service, hooks *unit.Hooks) {
	hooks.Recovered = func(ctx context.Context) error { return Recovered(ctx, s) }
}

// New makes the use cases on the core of a hub, and on those of other packages that they use.
func New(core *unit.Core, names *names.Service) *Service {
	return &Service{Core: core, names: names}
}

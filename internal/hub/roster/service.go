package roster

import (
	"sync"

	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core

	reusing sync.Mutex // held while a new agent takes the names of a removed one
}

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

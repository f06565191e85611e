package archive

import (
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/channels"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	artifacts *artifacts.Service
	names     *names.Service
	channels  *channels.Service
	reading   *reading.Service
}

// New makes the use cases on the core of a hub, and on those of other packages that they use.
func New(core *unit.Core, artifacts *artifacts.Service, names *names.Service, channels *channels.Service, reading *reading.Service) *Service {
	return &Service{Core: core, artifacts: artifacts, names: names, channels: channels, reading: reading}
}

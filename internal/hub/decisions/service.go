package decisions

import (
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/channels"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/delegation"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/roster"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	access     *access.Service
	names      *names.Service
	contact    *contact.Service
	delegation *delegation.Service
	channels   *channels.Service
	reading    *reading.Service
	roster     *roster.Service
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, access *access.Service, names *names.Service, contact *contact.Service, delegation *delegation.Service, channels *channels.Service, reading *reading.Service, roster *roster.Service) *Service {
	return &Service{Core: core, access: access, names: names, contact: contact, delegation: delegation, channels: channels, reading: reading, roster: roster}
}

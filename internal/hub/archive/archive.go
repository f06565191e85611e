// Package archive holds export, import, retention and redaction.
//
// Messages never change, with one exception: a redaction removes the body and keeps the envelope, with the digest that the
// checksum was made from. It also removes what runs, tasks, approvals and notices repeat of the body. The waits of a message are
// removed with it. Tasks and approvals stay when the messages that they name are erased.
//
// Retention erases whole messages, in their order, in updates of at most 200 messages. It keeps messages that have an open or
// dead delivery. References, words in the index and the counts of the conversation change in the same update. The hub first
// stores the highest number, so that it uses no number twice. The total size of all bodies is one row. Retention by size brings
// the row up to date before it uses it, and every erasure corrects it. A post does not write it (decision 9).
package archive

import (
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/channels"
	"github.com/parley-hub/parley/internal/hub/memory"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	artifacts *artifacts.Service
	names     *names.Service
	channels  *channels.Service
	reading   *reading.Service
	memory    *memory.Service
}

// New returns the use cases on the core of a hub. They use the given use cases of other packages.
func New(core *unit.Core, artifacts *artifacts.Service, names *names.Service, channels *channels.Service, reading *reading.Service, memory *memory.Service) *Service {
	return &Service{Core: core, artifacts: artifacts, names: names, channels: channels, reading: reading, memory: memory}
}

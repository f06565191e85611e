package upkeep

import (
	"sync"

	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/archive"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/bridges"
	"github.com/parley-hub/parley/internal/hub/decisions"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	presence  *presence.Service
	alerts    *alerts.Service
	artifacts *artifacts.Service
	work      *work.Service
	turns     *turns.Service
	feed      *feed.Service
	archive   *archive.Service
	bridges   *bridges.Service
	decisions *decisions.Service

	announcing sync.Mutex // held while the hub writes which agents have connected or disconnected
	totals     totals
	backingUp  sync.Mutex // held by a backup
	readiness  readiness
	sweeping   sync.Mutex        // held by a sweep
	quiet      storage.QuietMark // how far sweeps have looked for damaged deliveries that wake nobody; sweeping guards it
}

// Sweepers returns the loops of the regular and the frequent sweep.
func Sweepers(s *Service) []unit.Background { return []unit.Background{s.sweepRegularly, s.sweepOften} }

// Background returns the loop that writes which agents have connected or disconnected.
func Background(s *Service) []unit.Background { return []unit.Background{s.announceArrivals} }

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, presence *presence.Service, alerts *alerts.Service, artifacts *artifacts.Service, work *work.Service, turns *turns.Service, feed *feed.Service, archive *archive.Service, bridges *bridges.Service, decisions *decisions.Service) *Service {
	return &Service{Core: core, presence: presence, alerts: alerts, artifacts: artifacts, work: work, turns: turns, feed: feed, archive: archive, bridges: bridges, decisions: decisions}
}

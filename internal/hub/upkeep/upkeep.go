// Package upkeep holds what the hub does by itself from time to time, and what it says of its own health: sweeps, status,
// figures, readiness, backups.
package upkeep

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/archive"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/bridges"
	"github.com/parley-hub/parley/internal/hub/decisions"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/notices"
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
func Background(s *Service) []unit.Background { return []unit.Background{s.announcePresence} }

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, presence *presence.Service, alerts *alerts.Service, artifacts *artifacts.Service, work *work.Service, turns *turns.Service, feed *feed.Service, archive *archive.Service, bridges *bridges.Service, decisions *decisions.Service) *Service {
	return &Service{Core: core, presence: presence, alerts: alerts, artifacts: artifacts, work: work, turns: turns, feed: feed, archive: archive, bridges: bridges, decisions: decisions}
}

func (s *Service) sweepRegularly(ctx context.Context, started func()) {
	s.Regularly(ctx, started, s.Config.SweepEvery, s.Sweep)
}

// Sweep does the regular work of the hub, step by step. It uses small updates that do not block others for long. If a step
// fails, the next steps still run. Only one sweep runs at a time.
func (s *Service) Sweep(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	alerts.CollectDamage(ctx, s.alerts)
	failed := alerts.CheckDisk(ctx, s.alerts) // on a full disk this fails, and the next steps make room
	for _, step := range s.regularSteps() {
		failed = errors.Join(failed, step(ctx))
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// regularSteps returns the steps of a sweep, in order.
func (s *Service) regularSteps() []func(context.Context) error {
	onCore := func(step func(context.Context, *unit.Core) error) func(context.Context) error {
		return func(ctx context.Context) error { return step(ctx, s.Core) }
	}
	return []func(context.Context) error{
		onCore(presence.RecheckHalts),
		s.presence.SweepSummaries,
		onCore(archiveAllIdle),
		onCore(turns.FailOrphanedDeliveries),
		s.endDamagedWork,
		onCore(turns.EndOverdueRuns),
		onCore(forgetKeys),
		onCore(access.ForgetTokens),
		onCore(notices.ForgetNotices),
		onCore(archive.PurgeConversations),
		func(ctx context.Context) error { return archive.EraseOld(ctx, s.archive) },
		onCore(archive.ScrubSearchIndex),
		func(ctx context.Context) error { return artifacts.CollectArtifacts(ctx, s.artifacts) },
		func(ctx context.Context) error { return artifacts.RemoveWaste(ctx, s.artifacts) },
	}
}

func forgetKeys(ctx context.Context, core *unit.Core) error {
	_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) {
		return tx.Messages().ForgetKeys(core.Now().Add(-unit.KeyMemory), unit.PurgeBatch)
	})
	return err
}

func (s *Service) sweepOften(ctx context.Context, started func()) {
	s.Regularly(ctx, started, s.Config.DueEvery, func(ctx context.Context) error {
		if err := turns.FinishRecovery(ctx, s.turns); err != nil {
			return err
		}
		var failed error
		for _, step := range s.frequentSteps() {
			failed = errors.Join(failed, step(ctx))
		}
		return failed
	})
}

// frequentSteps returns the steps of the frequent sweep, in order.
func (s *Service) frequentSteps() []func(context.Context) error {
	return []func(context.Context) error{
		s.turns.SweepDeliveries,
		s.turns.SweepWaits,
		s.work.SweepTasks,
		s.SweepAttendance,
		s.SweepHalts,
		s.SweepBudgets,
		s.decisions.SweepApprovals,
	}
}

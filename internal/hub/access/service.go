package access

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/unit"
)

// May returns why the credential of a caller does not allow an operation, or nil. Every use case calls it. The HTTP API also
// calls it before it reads the body of a request.
func (s *Service) May(caller unit.Caller, operation string) error {
	return Admits(s, caller, unit.Op(operation))
}

func Admits(s *Service, caller unit.Caller, do unit.Op) error {
	err := do.Rule().Admits(caller)
	if err != nil {
		s.refusals.note(caller, string(do), err)
	}
	return err
}

// Service is the use cases of this package.
type Service struct {
	*unit.Core

	rate      *limiter
	load      *load
	Strangers *Strangers
	readings  *readings
	heads     *heads
	refusals  *refusals
}

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	s := &Service{Core: core}
	s.rate = newLimiter(core.Config.Rate)
	s.load = newLoad(core.Config.Load)
	s.Strangers = newStrangers()
	s.readings = newReadings()
	s.heads = newHeads(core.Store, core.Config.AuditHead, core.Config.Log)
	s.refusals = newRefusals(s, s.heads)
	return s
}

// Hook has this package check every use case.
func Hook(s *Service, hooks *unit.Hooks) {
	hooks.Admit = func(caller unit.Caller, do unit.Op) error { return Admits(s, caller, do) }
	hooks.Limit = func(ctx context.Context, caller unit.Caller) error { return Limit(ctx, s, caller) }
	hooks.Count = func(ctx context.Context, caller unit.Caller, do unit.Op) (unit.Underway, error) {
		return Count(ctx, s, caller, do)
	}
	hooks.Refused = func(caller unit.Caller, err error) { NoteRefusal(s, caller, err) }
}

// Background keeps the head of the audit log outside the database, and writes refusals to the audit log.
func Background(s *Service) []unit.Background { return []unit.Background{s.heads.run, s.refusals.run} }

// AfterCommit has the head of the audit log kept again, if it has moved.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		if c.Audited {
			s.heads.poke()
		}
	}
}

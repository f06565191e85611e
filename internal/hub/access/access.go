// Package access holds credentials and what they may do: tokens, sessions, identity, rate limits, load, refusals and the audit
// log.
package access

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// May returns why the credential of a caller does not allow an operation, or nil. Every use case checks the same. The HTTP
// API also checks it before it reads the body of a request.
func (s *Service) May(caller unit.Caller, operation string) error {
	return Admits(s, caller, unit.Op(operation))
}

// Admits returns why the credential of a caller does not allow an operation, or nil. It notes a refusal for the audit log.
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

	rate           *limiter
	load           *load
	UnknownCallers *UnknownCallers
	reads          *ownerReads
	heads          *headSaver
	refusals       *refusals
}

// New returns the use cases of this package on the core of a hub.
func New(core *unit.Core) *Service {
	s := &Service{Core: core}
	s.rate = newLimiter(core.Config.Rate)
	s.load = newLoad(core.Config.Load)
	s.UnknownCallers = newUnknownCallers()
	s.reads = newReadings()
	s.heads = newHeads(core.Store, core.Config.AuditHead, core.Config.Log)
	s.refusals = newRefusals(s, s.heads)
	return s
}

// Hook sets the hooks by which this package checks every use case.
func Hook(s *Service, hooks *unit.Hooks) {
	hooks.Admit = func(caller unit.Caller, do unit.Op) error { return Admits(s, caller, do) }
	hooks.Limit = func(ctx context.Context, caller unit.Caller) error { return Limit(ctx, s, caller) }
	hooks.Count = func(ctx context.Context, caller unit.Caller, do unit.Op) (unit.Underway, error) {
		return Count(ctx, s, caller, do)
	}
	hooks.Refused = func(caller unit.Caller, err error) { NoteRefusal(s, caller, err) }
}

// Background returns the work of this package: saving the head of the audit log, and writing refusals to the audit log.
func Background(s *Service) []unit.Background { return []unit.Background{s.heads.run, s.refusals.run} }

// AfterCommit returns the hook that saves the head of the audit log if an update moved it.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		if c.Audited {
			s.heads.poke()
		}
	}
}

// The rows of this package are written here and nowhere else.

// InsertToken stores a new token by its hash.
func InsertToken(tx storage.Tx, t parley.Token, hash [32]byte) error {
	return tx.Tokens().Insert(t, hash)
}

// SaveToken stores a changed token.
func SaveToken(tx storage.Tx, t parley.Token) error {
	return tx.Tokens().Put(t)
}

// EraseToken erases the token of a run.
func EraseToken(tx storage.Tx, run string) error {
	return tx.Tokens().Erase(run)
}

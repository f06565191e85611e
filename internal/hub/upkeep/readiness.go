package upkeep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	// readinessLifetime is how long the hub reuses an answer, so that frequent requests do not occupy the writer.
	readinessLifetime = time.Second
	// lowSpace is the free space below which the hub tests whether it can store something.
	lowSpace = 16 << 20
	// fullDisk is the free space at which a disk counts as full, even if a small change still fits into the write-ahead log.
	fullDisk = 64 << 10
)

// readiness remembers for a moment whether the hub was ready.
type readiness struct {
	mu      sync.Mutex
	at      time.Time
	reasons []parley.NotReady
}

// Readiness returns the reasons why the hub cannot store anything at present. The list is empty if the hub is ready.
func (s *Service) Readiness(ctx context.Context) []parley.NotReady {
	r := &s.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) <= readinessLifetime {
		return slices.Clone(r.reasons)
	}
	err := s.writable(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return []parley.NotReady{notReady(err)} // the caller has disconnected, which says nothing about the hub
	}
	r.at, r.reasons = time.Now(), nil
	if err != nil {
		r.reasons = []parley.NotReady{notReady(err)}
	}
	return slices.Clone(r.reasons)
}

// InPublic rewords a reason for callers who must not learn where the hub stores its data.
func InPublic(n parley.NotReady) parley.NotReady {
	n.Message, n.Suggestion = "its database cannot be written", "see its log, or try: parley doctor"
	if n.Check == diskCheck {
		n.Message = "its disk is full"
	}
	return n
}

const diskCheck = "disk"

func notReady(err error) parley.NotReady {
	e := parley.AsError(err)
	n := parley.NotReady{Check: "store", Message: e.Message, Suggestion: e.Suggestion}
	if e.Reason == parley.StorageFull {
		n.Check = diskCheck
	}
	if n.Suggestion == "" {
		n.Suggestion = "see the log of the hub"
	}
	return n
}

// writable returns why the hub cannot store anything at present, or nil. First it returns the leases of the former process,
// because the hub serves nobody before.
func (s *Service) writable(ctx context.Context) error {
	if err := turns.FinishRecovery(ctx, s.turns); err != nil {
		return err
	}
	free, _, known, err := alerts.DiskSpace(s.Core)
	if err != nil || !known || free >= lowSpace {
		return s.Store.Update(ctx, func(storage.Tx) error { return nil })
	}
	if prober, able := s.Store.(storage.Prober); able {
		if err := prober.Probe(ctx); err != nil {
			return err
		}
	}
	if free < fullDisk {
		return parley.Errorf(parley.Unavailable, "the disk is full: %d bytes are free", free).Because(parley.StorageFull).
			Suggest("free space on the disk of the hub")
	}
	return nil
}

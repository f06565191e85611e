package artifacts

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// CollectArtifacts removes bodies that no message has referred to for a while: first the row, then the body, so that a crash in between
// leaves a body without a row and never the other way round. Nobody can store the same body meanwhile. A message that refers to the
// body keeps the row, or is refused.
func CollectArtifacts(ctx context.Context, s *Service) error {
	since := s.Now().Add(-UnusedArtifact)
	var unused []string
	err := s.Store.View(ctx, func(tx storage.Tx) (err error) {
		unused, err = tx.Artifacts().Unused(since, ArtifactBatch)
		return err
	})
	for _, sha256 := range unused {
		if err == nil {
			err = CollectArtifact(ctx, s, sha256, since)
		}
	}
	return err
}

// CollectArtifact removes one body, unless a message has referred to it since.
func CollectArtifact(ctx context.Context, s *Service, sha256 string, since time.Time) error {
	err := s.Store.Blobs().Remove(ctx, sha256, func() (forgotten bool, err error) {
		err = s.Store.Update(ctx, func(tx storage.Tx) (err error) {
			forgotten, err = tx.Artifacts().Forget(sha256, since)
			return err
		})
		return forgotten, err
	})
	if err != nil {
		s.WasteDue.Store(true) // the row may be deleted already
	}
	return err
}

// RemoveWaste removes bodies without a row, which a crash or a failure has left. It reads the list of all bodies, and so runs only
// after a start or a failure.
func RemoveWaste(ctx context.Context, s *Service) error {
	if !s.WasteDue.Swap(false) {
		return nil
	}
	err := eachBody(ctx, s.Core, func(digests []string) error {
		waste, err := findWithoutRow(ctx, s.Core, digests)
		for _, sha256 := range waste {
			if err == nil {
				err = s.removeWithoutRow(ctx, sha256)
			}
		}
		return err
	})
	if err != nil {
		s.WasteDue.Store(true)
	}
	return err
}

// removeWithoutRow removes a body unless it has a row. If that fails, or has to wait for a backup, the next sweep retries.
func (s *Service) removeWithoutRow(ctx context.Context, sha256 string) error {
	checked := false
	err := s.Store.Blobs().Remove(ctx, sha256, func() (bool, error) {
		checked = true
		return confirmLacksRow(ctx, s.Core, sha256)
	})
	if err != nil || !checked {
		s.WasteDue.Store(true)
	}
	return err
}

// eachBody calls do with the digests of all bodies, in batches.
func eachBody(ctx context.Context, core *unit.Core, do func(digests []string) error) error {
	for after := ""; ; {
		digests, err := core.Store.Blobs().List(ctx, after, ArtifactBatch)
		if err != nil || len(digests) == 0 {
			return err
		}
		if err := do(digests); err != nil {
			return err
		}
		after = digests[len(digests)-1]
	}
}

// findWithoutRow returns those digests whose body has no row.
func findWithoutRow(ctx context.Context, core *unit.Core, digests []string) (waste []string, err error) {
	err = core.Store.View(ctx, func(tx storage.Tx) error {
		for _, sha256 := range digests {
			none, err := lacksRow(tx, sha256)
			if err != nil {
				return err
			}
			if none {
				waste = append(waste, sha256)
			}
		}
		return nil
	})
	return waste, err
}

// confirmLacksRow reports whether a body has no row. It reads in an update, because after a failed commit only a successful update
// proves that the row does not come back after a crash.
func confirmLacksRow(ctx context.Context, core *unit.Core, sha256 string) (missing bool, err error) {
	err = core.Store.Update(ctx, func(tx storage.Tx) (err error) {
		missing, err = lacksRow(tx, sha256)
		return err
	})
	return missing, err
}

// lacksRow reports whether a body has no row, or only the row of a removed body.
func lacksRow(tx storage.Tx, sha256 string) (bool, error) {
	a, err := tx.Artifacts().Get(sha256)
	if errors.Is(err, parley.ErrNotFound) {
		return true, nil
	}
	return a.RemovedAt != nil, err
}

package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// collectArtifacts removes bodies that no message has referred to for a while: first the row, then
// the body, so that a crash in between leaves a body without a row and never the other way round.
// Nobody can store the same body meanwhile; who refers to it comes before its row goes, or is told that
// there is none.
func (h *Hub) collectArtifacts(ctx context.Context) error {
	since := h.now().Add(-unusedArtifact)
	var unused []string
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		unused, err = tx.Artifacts().Unused(since, artifactBatch)
		return err
	})
	for _, sha256 := range unused {
		if err == nil {
			err = h.collectArtifact(ctx, sha256, since)
		}
	}
	return err
}

func (h *Hub) collectArtifact(ctx context.Context, sha256 string, since time.Time) error {
	err := h.store.Blobs().Remove(ctx, sha256, func() (forgotten bool, err error) {
		err = h.store.Update(ctx, func(tx parley.Tx) (err error) {
			forgotten, err = tx.Artifacts().Forget(sha256, since)
			return err
		})
		return forgotten, err
	})
	if err != nil {
		h.wasteDue.Store(true) // its row may be gone
	}
	return err
}

// removeWaste removes bodies without a row, which a crash or a failure has left. It looks at every
// body, and so only after a start or a failure.
func (h *Hub) removeWaste(ctx context.Context) error {
	if !h.wasteDue.Swap(false) {
		return nil
	}
	err := h.eachBody(ctx, func(digests []string) error {
		waste, err := h.withoutRow(ctx, digests)
		for _, sha256 := range waste {
			if err == nil {
				err = h.removeWithoutRow(ctx, sha256)
			}
		}
		return err
	})
	if err != nil {
		h.wasteDue.Store(true)
	}
	return err
}

// removeWithoutRow removes a body unless it has a row. Where that fails, or has to wait for a backup, the
// next sweep looks again.
func (h *Hub) removeWithoutRow(ctx context.Context, sha256 string) error {
	asked := false
	err := h.store.Blobs().Remove(ctx, sha256, func() (bool, error) {
		asked = true
		return h.unknownBody(ctx, sha256)
	})
	if err != nil || !asked {
		h.wasteDue.Store(true)
	}
	return err
}

func (h *Hub) eachBody(ctx context.Context, look func(digests []string) error) error {
	for after := ""; ; {
		digests, err := h.store.Blobs().List(ctx, after, artifactBatch)
		if err != nil || len(digests) == 0 {
			return err
		}
		if err := look(digests); err != nil {
			return err
		}
		after = digests[len(digests)-1]
	}
}

func (h *Hub) withoutRow(ctx context.Context, digests []string) (waste []string, err error) {
	err = h.store.View(ctx, func(tx parley.Tx) error {
		for _, sha256 := range digests {
			none, err := noBody(tx, sha256)
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

// unknownBody says whether a body has no row. It asks in an update, because after a failed commit only
// an update that goes through shows that no row comes back after a crash.
func (h *Hub) unknownBody(ctx context.Context, sha256 string) (missing bool, err error) {
	err = h.store.Update(ctx, func(tx parley.Tx) (err error) {
		missing, err = noBody(tx, sha256)
		return err
	})
	return missing, err
}

// noBody says whether a body has no row, or one that says it was removed.
func noBody(tx parley.Tx, sha256 string) (bool, error) {
	a, err := tx.Artifacts().Get(sha256)
	if errors.Is(err, parley.ErrNotFound) {
		return true, nil
	}
	return a.RemovedAt != nil, err
}

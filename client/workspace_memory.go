package client

import (
	"context"
	"crypto/rand"

	"github.com/parley-hub/parley"
)

// Remember stores a note.
func (w *Workspace) Remember(ctx context.Context, n parley.NewNote) (parley.Note, error) {
	if n.IdempotencyKey == "" {
		n.IdempotencyKey = parley.CallKey(rand.Text())
	}
	return reading(ctx, func() (parley.Note, error) { return w.client.Remember(ctx, n) })
}

// Recall returns notes of one memory.
func (w *Workspace) Recall(ctx context.Context, f parley.NoteFilter) ([]parley.Note, error) {
	return reading(ctx, func() ([]parley.Note, error) { return w.client.Recall(ctx, f) })
}

// Forget erases a note.
func (w *Workspace) Forget(ctx context.Context, note string) error {
	_, err := untilBack(ctx, func(again bool) (struct{}, error) {
		err := w.client.Forget(ctx, note)
		if again && err != nil && parley.AsError(err).Reason == parley.NotFound {
			err = nil // the interrupted call had erased it
		}
		return struct{}{}, err
	})
	return err
}

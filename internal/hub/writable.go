package hub

import (
	"context"

	"github.com/parley-hub/parley"
)

// Writable says why nothing can be stored at present, or nil.
func (h *Hub) Writable(ctx context.Context) error {
	return h.store.Update(ctx, func(parley.Tx) error { return nil })
}

package archive

import (
	"context"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/hub/unit"
)

func Purge(ctx context.Context, core *unit.Core) error {
	_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) { return tx.Conversations().Purge(unit.PurgeBatch) })
	return err
}

package access

import (
	"context"
	"log/slog"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// headSaver saves the head of the audit log with its keeper after each update that moved it. It never replaces a saved head that
// the log does not contain, because that head proves that the log was changed.
type headSaver struct {
	store  storage.Store
	keeper unit.HeadKeeper
	log    *slog.Logger
	wake   chan struct{}
}

func newHeads(store storage.Store, keeper unit.HeadKeeper, log *slog.Logger) *headSaver {
	return &headSaver{store: store, keeper: keeper, log: log, wake: make(chan struct{}, 1)}
}

// poke tells that the head moved.
func (k *headSaver) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *headSaver) run(ctx context.Context, started func()) {
	started()
	if k.keeper == nil {
		return
	}
	for {
		k.keep(ctx)
		select {
		case <-ctx.Done():
			k.keep(context.WithoutCancel(ctx)) // the last entries of the other services
			return
		case <-k.wake:
		}
	}
}

func (k *headSaver) keep(ctx context.Context) {
	if err := k.advance(ctx); err != nil && ctx.Err() == nil {
		k.log.Error("the head of the audit log is not kept outside the database", "error", err)
	}
}

func (k *headSaver) advance(ctx context.Context) error {
	kept, err := k.keeper.Load()
	if err != nil {
		return err
	}
	var head parley.AuditHead
	err = k.store.View(ctx, func(tx storage.Tx) error {
		if err := isInLog(tx, kept); err != nil {
			return err
		}
		head, err = tx.Log().AuditHead()
		return err
	})
	if err != nil || head == kept {
		return err
	}
	return k.keeper.Save(head)
}

// isInLog returns an error if the log does not contain a head.
func isInLog(tx storage.Tx, kept parley.AuditHead) error {
	if kept.Num == 0 {
		return nil
	}
	list, err := tx.Log().Audited(kept.Num-1, 1)
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].Num != kept.Num || list[0].Hash != kept.Hash {
		return parley.Errorf(parley.Internal, "the audit log was changed: it does not have the entry %d that was kept", kept.Num).
			Suggest("verify the audit log")
	}
	return nil
}

package hub

import (
	"context"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// Backup copies everything into a new directory of the machine the hub is on, while it goes on, and verifies
// the copy. Only an owner may.
func (h *Hub) Backup(ctx context.Context, caller Caller, dir string) (made parley.Backup, err error) {
	if !filepath.IsAbs(dir) {
		return made, parley.Errorf(parley.BadInput, "the directory %q is not absolute", dir).
			Suggest("give the whole path, from / on: the hub does not know where you are")
	}
	keeper, err := h.keeper(ctx, caller, opMakeBackup, "hub.backup", dir)
	if err != nil {
		return made, err
	}
	if !h.backingUp.TryLock() {
		return made, parley.Errorf(parley.Unavailable, "a backup is being made already").Suggest("wait until it is done")
	}
	defer h.backingUp.Unlock()
	made, err = keeper.Backup(ctx, filepath.Clean(dir))
	return made, h.explain(ctx, caller, err)
}

// CheckDeep verifies everything that is stored, beside the hub's work. progress, which may be nil, is told now
// and then how far it is. What it finds is in the report; an error means that the check could not be made.
// Only an owner may.
func (h *Hub) CheckDeep(ctx context.Context, caller Caller, progress func(parley.CheckReport)) (report parley.CheckReport, err error) {
	keeper, err := h.keeper(ctx, caller, opCheck, "hub.check", "")
	if err != nil {
		return report, err
	}
	report, err = keeper.CheckDeep(ctx, progress)
	return report, h.explain(ctx, caller, err)
}

// keeper is the store for an owner who looks after it, which is written down.
func (h *Hub) keeper(ctx context.Context, caller Caller, do op, audited, subject string) (parley.Keeper, error) {
	keeper, able := h.store.(parley.Keeper)
	err := h.update(ctx, caller, do, func(s *scene) error {
		if !able {
			return parley.Errorf(parley.Unavailable, "this store cannot %s", do.rule().Act).Suggest("use the database's own tools")
		}
		return s.audit(audited, subject, nil)
	})
	return keeper, err
}

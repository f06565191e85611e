package upkeep

import (
	"context"
	"path/filepath"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Backup copies all data into a new directory on the hub's machine and verifies the copy. The hub goes on working. Only an
// owner may call it.
func (s *Service) Backup(ctx context.Context, caller unit.Caller, dir string) (made parley.Backup, err error) {
	if !filepath.IsAbs(dir) {
		return made, parley.Errorf(parley.BadInput, "the directory %q is not absolute", dir).
			Suggest("give an absolute path: the hub does not know your current directory")
	}
	maintainer, err := maintainerForOwner(ctx, s.Core, caller, unit.OpMakeBackup, "hub.backup", dir)
	if err != nil {
		return made, err
	}
	if !s.backingUp.TryLock() {
		return made, parley.Errorf(parley.Unavailable, "another backup is in progress").Suggest("wait until it has ended")
	}
	defer s.backingUp.Unlock()
	made, err = maintainer.Backup(ctx, filepath.Clean(dir))
	return made, s.Explain(ctx, caller, err)
}

// CheckDeep verifies all stored data while the hub works. It calls progress, unless that is nil, from time to time. The report
// has what it finds; an error means that the check itself has failed. Only an owner may call it.
func (s *Service) CheckDeep(ctx context.Context, caller unit.Caller, progress func(parley.CheckReport)) (report parley.CheckReport, err error) {
	maintainer, err := maintainerForOwner(ctx, s.Core, caller, unit.OpCheck, "hub.check", "")
	if err != nil {
		return report, err
	}
	report, err = maintainer.CheckDeep(ctx, progress)
	return report, s.Explain(ctx, caller, err)
}

// maintainerForOwner returns the store's maintenance functions for an owner, and writes an audit entry.
func maintainerForOwner(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, audited, subject string) (storage.Maintainer, error) {
	maintainer, able := core.Store.(storage.Maintainer)
	err := core.Update(ctx, caller, do, func(u *unit.Unit) error {
		if !able {
			return parley.Errorf(parley.Unavailable, "this store cannot %s", do.Rule().Act).Suggest("use the database's own tools")
		}
		return access.Audit(u, audited, subject, nil)
	})
	return maintainer, err
}

package server

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/postgres"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// offline works on what a hub has stored while that hub does not run. E002 with who runs if it does.
func offline(ctx context.Context, o Options, do func(store) error) error {
	s := &Server{Options: o}
	if err := s.Home.Check(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.checkStore, s.mustBeStored, s.takeHome, s.openStore} {
		if err := step(ctx); err != nil {
			s.undoAfter(s.Stop)
			return err
		}
	}
	if err := do(s.store); err != nil {
		s.undoAfter(s.Stop)
		return err
	}
	return s.Stop()
}

// Backup makes a backup of a hub that does not run.
func Backup(ctx context.Context, o Options, dir string) (made parley.Backup, err error) {
	err = offline(ctx, o, func(db store) (err error) {
		made, err = db.Backup(ctx, dir)
		return err
	})
	return made, err
}

// Restored is what a restore has put in place.
type Restored struct {
	Directory string `json:"directory"` // where the backup is
	Seq       int64  `json:"seq"`
	Messages  int64  `json:"messages"`
	Artifacts int64  `json:"artifacts"`
}

// Restore puts a backup where a hub that does not run keeps its messages. It must be empty. What fails leaves
// no home that was not there before.
func Restore(ctx context.Context, o Options, dir string) (Restored, error) {
	s := &Server{Options: o}
	if err := s.takeHome(ctx); err != nil {
		s.undoAfter(s.abandon)
		return Restored{}, err
	}
	restored, err := s.restore(ctx, dir)
	if err != nil {
		s.undoAfter(s.abandon)
		return Restored{}, err
	}
	return restored, s.Stop()
}

func (s *Server) restore(ctx context.Context, dir string) (Restored, error) {
	if err := s.checkStore(ctx); err != nil {
		return Restored{}, err
	}
	restore, into := sqlite.Restore, string(s.Home)
	if s.Config.Store != config.SQLite {
		restore, into = postgres.Restore, s.Config.Store
	}
	m, err := restore(ctx, dir, into)
	if err == nil {
		err = errors.Join(s.Home.AuditHead().Remove(), s.keepStore()) // the head is of what was here before
	}
	if err != nil {
		return Restored{}, err
	}
	return Restored{dir, m.Seq, m.Messages, m.Artifacts}, nil
}

// Examined is what was found in a store that no hub uses.
type Examined struct {
	Newest              *time.Time // when the newest thing in it happened
	DiskFree, DiskTotal int64      // 0: not known
	Report              *parley.CheckReport
	Audit               *parley.AuditReport
}

// Examine opens what a hub that does not run has stored, which looks at its structure, and verifies all of it
// where that is asked for.
func Examine(ctx context.Context, o Options, deep bool, progress func(parley.CheckReport)) (found Examined, err error) {
	err = offline(ctx, o, func(db store) (err error) {
		if disk, ok := db.(storage.Disk); ok {
			found.DiskFree, found.DiskTotal, _ = disk.Space() // unknown is 0
		}
		if found.Newest, err = newest(ctx, db); err != nil || !deep {
			return err
		}
		report, err := db.CheckDeep(ctx, progress)
		if found.Report = &report; err != nil {
			return err
		}
		audit, err := hub.VerifyAudit(ctx, db, o.Home.AuditHead())
		found.Audit = &audit
		return err
	})
	return found, err
}

func newest(ctx context.Context, db store) (at *time.Time, err error) {
	err = db.View(ctx, func(tx storage.Tx) error {
		_, last, err := tx.Log().Bounds()
		if err != nil || last == 0 {
			return err
		}
		events, err := tx.Log().Events(last-1, 1)
		if err == nil && len(events) > 0 {
			at = &events[0].At
		}
		return err
	})
	return at, err
}

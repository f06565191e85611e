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

// withStoppedHub calls do with the store of a hub that does not run. If the hub runs, it returns E002 with its PID.
func withStoppedHub(ctx context.Context, o Options, do func(store) error) error {
	s := &Server{Options: o}
	if err := s.Home.Check(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.checkStore, s.requireData, s.lockHome, s.openStore} {
		if err := step(ctx); err != nil {
			s.undoFailedStart(s.Stop)
			return err
		}
	}
	if err := do(s.store); err != nil {
		s.undoFailedStart(s.Stop)
		return err
	}
	return s.Stop()
}

// Backup makes a backup of a hub that does not run.
func Backup(ctx context.Context, o Options, dir string) (made parley.Backup, err error) {
	err = withStoppedHub(ctx, o, func(db store) (err error) {
		made, err = db.Backup(ctx, dir)
		return err
	})
	return made, err
}

// Restored describes the backup that Restore has restored.
type Restored struct {
	Directory string `json:"directory"` // of the backup
	Seq       int64  `json:"seq"`
	Messages  int64  `json:"messages"`
	Artifacts int64  `json:"artifacts"`
}

// Restore copies a backup into the store of a hub that does not run. The store must be empty. If Restore fails, it removes a home
// that it created.
func Restore(ctx context.Context, o Options, dir string) (Restored, error) {
	s := &Server{Options: o}
	if err := s.lockHome(ctx); err != nil {
		s.undoFailedStart(s.abandon)
		return Restored{}, err
	}
	restored, err := s.restore(ctx, dir)
	if err != nil {
		s.undoFailedStart(s.abandon)
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
		err = errors.Join(s.Home.AuditHead().Remove(), s.saveStoreName()) // the head belongs to the earlier content
	}
	if err != nil {
		return Restored{}, err
	}
	return Restored{dir, m.Seq, m.Messages, m.Artifacts}, nil
}

// Examined is the result of Examine.
type Examined struct {
	Newest              *time.Time // the time of the newest event; nil: there is none
	DiskFree, DiskTotal int64      // 0: unknown
	Report              *parley.CheckReport
	Audit               *parley.AuditReport
}

// Examine opens the store of a hub that does not run, which checks its structure. If deep is set, it also verifies all content and
// the audit log. It returns what it found so far with an error.
func Examine(ctx context.Context, o Options, deep bool, progress func(parley.CheckReport)) (found Examined, err error) {
	err = withStoppedHub(ctx, o, func(db store) (err error) {
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

// newest returns the time of the newest event, or nil if the store has no events.
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

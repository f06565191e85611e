package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

const manifestDatabase = "postgres"

// Backup copies everything into a new directory while the hubs go on: each table as of one moment, in
// PostgreSQL's binary form. What the snapshot holds is checked, and what was written is read again,
// before it gets its name. If anything fails, nothing is left.
func (db *DB) Backup(ctx context.Context, dir string) (parley.Backup, error) {
	return store.MakeBackup(ctx, dir, func(partial string) (m store.Manifest, err error) {
		c, err := db.dialer.connect(ctx)
		if err != nil {
			return m, db.dialer.explain(err)
		}
		defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		err = pgx.BeginTxFunc(ctx, c, options, func(tx pgx.Tx) (err error) {
			m, err = db.dialer.backUpTo(ctx, tx, partial)
			return err
		})
		if sqlState(err) != "" || unreachable(err) {
			err = db.dialer.explain(err)
		}
		if err != nil {
			return m, err
		}
		return store.VerifyBackup(ctx, partial, manifestDatabase)
	})
}

func (d *dialer) backUpTo(ctx context.Context, tx pgx.Tx, dir string) (m store.Manifest, err error) {
	report, seq, err := d.checkSnapshot(ctx, tx)
	if err != nil {
		return m, err
	}
	m = store.NewManifest(manifestDatabase, report, seq)
	if err := tx.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&m.Schema); err != nil {
		return m, err
	}
	tables, err := tablesOf(ctx, tx)
	if err != nil {
		return m, err
	}
	for _, table := range tables {
		file, err := copyTable(ctx, tx, dir, table)
		if err != nil {
			return m, err
		}
		m.Files = append(m.Files, file)
	}
	return m, errors.Join(m.Write(dir), store.SyncPath(dir))
}

// checkSnapshot verifies everything the transaction sees, and returns what that is and its newest
// number.
func (d *dialer) checkSnapshot(ctx context.Context, tx pgx.Tx) (report parley.CheckReport, seq int64, err error) {
	var snapshot string
	if err := tx.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(&snapshot); err != nil {
		return report, 0, err
	}
	f := d.freeze(tx, snapshot)
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := store.Check(ctx, f, &report, func(parley.CheckReport) {}); err != nil {
		return report, 0, err
	}
	if err := report.Err(); err != nil {
		return report, 0, err
	}
	err = f.View(ctx, func(tx storage.Tx) error {
		_, seq, err = tx.Log().Bounds()
		return err
	})
	return report, seq, err
}

// copyTable writes one table to a file, durably, and describes what it has written.
func copyTable(ctx context.Context, tx pgx.Tx, dir, table string) (f store.ManifestFile, err error) {
	f.Path = table + store.CopySuffix
	file, err := os.OpenFile(filepath.Join(dir, f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	_, err = tx.Conn().PgConn().CopyTo(ctx, io.MultiWriter(file, sum), "COPY "+quoted(table)+" TO STDOUT (FORMAT binary)")
	if err != nil {
		return f, err
	}
	info, err := file.Stat()
	if err != nil {
		return f, err
	}
	f.Size, f.SHA256 = info.Size(), hex.EncodeToString(sum.Sum(nil))
	return f, file.Sync()
}

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

// Backup copies every table, as of one moment, into a new directory, in PostgreSQL's binary form. The hubs can go on writing
// meanwhile. Backup checks the content of its snapshot, and reads and verifies the copy, before it gives the directory its
// name. If anything fails, Backup removes the copy.
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
		if sqlState(err) != "" || isUnreachable(err) {
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
	tables, err := listTables(ctx, tx)
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

// checkSnapshot verifies everything that a transaction sees. It returns the counts of what it has read, and the newest number
// of the log.
func (d *dialer) checkSnapshot(ctx context.Context, tx pgx.Tx) (report parley.CheckReport, seq int64, err error) {
	var snapshot string
	if err := tx.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(&snapshot); err != nil {
		return report, 0, err
	}
	f := d.newSnapshotStore(tx, snapshot)
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

// copyTable writes one table to a file, syncs the file and returns its description.
func copyTable(ctx context.Context, tx pgx.Tx, dir, table string) (f store.ManifestFile, err error) {
	f.Path = table + store.CopySuffix
	file, err := os.OpenFile(filepath.Join(dir, f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	_, err = tx.Conn().PgConn().CopyTo(ctx, io.MultiWriter(file, sum), "COPY "+quoteName(table)+" TO STDOUT (FORMAT binary)")
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

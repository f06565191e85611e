package postgres

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(end)) }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) parley.Store { return opened(t, migrated.Copy(t)) })
}

// migrated is a database with all tables and no rows.
var migrated = &pgtest.Template{Make: func(url string) error {
	db, err := Open(context.Background(), url)
	if err != nil {
		return err
	}
	return db.Close()
}}

func end(code int) {
	migrated.Drop()
	os.Exit(code)
}

// opened opens a database and closes it when the test has ended.
func opened(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

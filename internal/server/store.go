package server

import (
	"context"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/store/postgres"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// store is the part of a database that a server uses.
type store interface {
	storage.Store
	storage.Maintainer
	Close() error
}

// openDatabase opens the configured store, and returns its kind: sqlite or postgres.
func openDatabase(ctx context.Context, dir home.Dir, address string) (store, string, error) {
	if address == config.SQLite {
		db, err := sqlite.Open(ctx, string(dir))
		if err != nil {
			return nil, "", err
		}
		return db, "sqlite", nil
	}
	db, err := postgres.Open(ctx, address)
	if err != nil {
		return nil, "", err
	}
	return db, "postgres", nil
}

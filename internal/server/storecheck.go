package server

import (
	"context"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/store/postgres"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// storeName returns the name of a store for people: its address without the password.
func storeName(address string) (string, error) {
	if address == config.SQLite {
		return address, nil
	}
	name, err := postgres.Name(address)
	return postgresStore + name, err
}

// postgresStore is the prefix of the names of PostgreSQL databases.
const postgresStore = "postgres "

// checkStore returns E003 if the configured store is not the one that holds the messages of the home. With another store, the
// messages would seem lost.
func (s *Server) checkStore(context.Context) error {
	kept, err := s.Home.Store()
	if err != nil {
		return err
	}
	configured, err := storeName(s.Config.Store)
	if err != nil || kept == "" || kept == configured {
		return err
	}
	return wrongStore(s.Home, kept, configured).Because(parley.Conflict)
}

func wrongStore(dir home.Dir, kept, configured string) *parley.Error {
	keptName, keptElsewhere := strings.CutPrefix(kept, postgresStore)
	configuredName, configuredElsewhere := strings.CutPrefix(configured, postgresStore)
	switch {
	case !keptElsewhere && kept != config.SQLite:
		return parley.Errorf(parley.BadInput, "the file %s does not name a store: %q", dir.StoreFile(), kept).
			Suggest("make sure that store in config.yaml is right, then remove the file")
	case keptElsewhere && configuredElsewhere:
		return parley.Errorf(parley.BadInput, "the configuration says PostgreSQL (%s), but the messages of this home are in another database (%s)", configuredName, keptName).
			Suggest("correct store in config.yaml, or choose another home; if the database has moved, remove %s", dir.StoreFile())
	case keptElsewhere:
		return parley.Errorf(parley.BadInput, "the configuration says SQLite, but the messages of this home are in PostgreSQL (%s)", keptName).
			Suggest("put store: postgres://… into config.yaml, or choose another home")
	default:
		return parley.Errorf(parley.BadInput, "the configuration says PostgreSQL (%s), but the messages of this home are in SQLite", configuredName).
			Suggest("put store: sqlite into config.yaml, or choose another home")
	}
}

// saveStoreName writes into the home which store holds its messages.
func (s *Server) saveStoreName() error {
	name, err := storeName(s.Config.Store)
	if err != nil {
		return err
	}
	return s.lock.SaveStoreName(name)
}

// requireData returns an error if the store does not exist yet, because opening it would create it.
func (s *Server) requireData(ctx context.Context) (err error) {
	var found bool
	if s.Config.Store == config.SQLite {
		found, err = sqlite.HasData(string(s.Home))
	} else {
		found, err = postgres.HasData(ctx, s.Config.Store)
	}
	if err == nil && !found {
		err = parley.Errorf(parley.BadInput, "nothing is stored yet for the home %s", s.Home).
			Because(parley.NotFound).Suggest("start a hub in it with: parley up")
	}
	return err
}

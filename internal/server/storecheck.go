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

// storeName says what a store is, without its password.
func storeName(address string) (string, error) {
	if address == config.SQLite {
		return address, nil
	}
	name, err := postgres.Name(address)
	return postgresStore + name, err
}

// postgresStore begins the names of those that are no SQLite database.
const postgresStore = "postgres "

// checkStore refuses another store than the one that has the home's messages: they would seem to be lost.
func (s *Server) checkStore(context.Context) error {
	kept, err := s.Home.Store()
	if err != nil {
		return err
	}
	given, err := storeName(s.Config.Store)
	if err != nil || kept == "" || kept == given {
		return err
	}
	return wrongStore(s.Home, kept, given).Because(parley.Conflict)
}

func wrongStore(dir home.Dir, kept, given string) *parley.Error {
	was, keptElsewhere := strings.CutPrefix(kept, postgresStore)
	is, givenElsewhere := strings.CutPrefix(given, postgresStore)
	switch {
	case !keptElsewhere && kept != config.SQLite:
		return parley.Errorf(parley.BadInput, "the file %s does not name a store: %q", dir.StoreFile(), kept).
			Suggest("make sure that the setting store is right, then remove the file")
	case keptElsewhere && givenElsewhere:
		return parley.Errorf(parley.BadInput, "the configuration says PostgreSQL (%s), but the messages of this home are in another database (%s)", is, was).
			Suggest("correct store in config.yaml, or choose another home; if the database has moved, remove %s", dir.StoreFile())
	case keptElsewhere:
		return parley.Errorf(parley.BadInput, "the configuration says SQLite, but the messages of this home are in PostgreSQL (%s)", was).
			Suggest("put store: postgres://… into config.yaml, or choose another home")
	default:
		return parley.Errorf(parley.BadInput, "the configuration says PostgreSQL (%s), but the messages of this home are in SQLite", is).
			Suggest("put store: sqlite into config.yaml, or choose another home")
	}
}

// keepStore notes in the home which store has its messages.
func (s *Server) keepStore() error {
	name, err := storeName(s.Config.Store)
	if err != nil {
		return err
	}
	return s.lock.KeepStore(name)
}

// mustBeStored refuses to go on where there is nothing yet: opening it would make it.
func (s *Server) mustBeStored(ctx context.Context) (err error) {
	var found bool
	if s.Config.Store == config.SQLite {
		found, err = sqlite.Stored(string(s.Home))
	} else {
		found, err = postgres.Stored(ctx, s.Config.Store)
	}
	if err == nil && !found {
		err = parley.Errorf(parley.BadInput, "nothing is stored yet for the home %s", s.Home).
			Because(parley.NotFound).Suggest("start a hub in it with: parley up")
	}
	return err
}

package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/pgtest"
)

// files are the names of everything in a home.
func files(t *testing.T, o Options) (names []string) {
	t.Helper()
	err := filepath.WalkDir(string(o.Home), func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestAHomeKeepsItsStore starts a home with another store than it had, in every way there is.
func TestAHomeKeepsItsStore(t *testing.T) {
	onSQLite := options(t, nil)
	first, second := options(t, map[string]string{"store": pgtest.URL(t)}), options(t, map[string]string{"store": pgtest.URL(t)})
	for name, test := range map[string]struct {
		had, has Options
		want     string
	}{
		"PostgreSQL, then SQLite": {first, onSQLite, "the configuration says SQLite, but the messages of this home are in PostgreSQL ("},
		"SQLite, then PostgreSQL": {onSQLite, first, "), but the messages of this home are in SQLite (put store: sqlite into config.yaml, or choose another home)"},
		"another database":        {first, second, "if the database has moved, remove "},
	} {
		t.Run(name, func(t *testing.T) {
			had, has := test.had, test.has
			had.Home = options(t, nil).Home
			has.Home = had.Home
			stop(t, start(t, had))
			before := files(t, had)
			_, err := Start(t.Context(), has)
			_, examining := Examine(t.Context(), has, false, nil)
			_, restoring := Restore(t.Context(), has, t.TempDir())
			for _, err := range []error{err, examining, restoring} {
				if parley.AsError(err).Reason != parley.Conflict || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q in it", err, test.want)
				}
			}
			if after := files(t, had); len(after) != len(before) {
				t.Errorf("there is %v, and was %v", after, before)
			}
			stop(t, start(t, had)) // as it was
		})
	}
}

func TestAHomeWithADatabaseOnlyIsSQLites(t *testing.T) {
	o := options(t, nil)
	stop(t, start(t, o))
	if err := os.Remove(o.Home.StoreFile()); err != nil {
		t.Fatal(err)
	}
	other := o
	other.Config = options(t, map[string]string{"store": "postgres://u:canary@127.0.0.1:1/none"}).Config
	_, err := Start(t.Context(), other)
	if err == nil || !strings.Contains(err.Error(), "none on 127.0.0.1:1") || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	stop(t, start(t, o))
}

func TestThePasswordIsNotKept(t *testing.T) {
	address := pgtest.URL(t)
	o := options(t, map[string]string{"store": address})
	stop(t, start(t, o))
	text, err := os.ReadFile(o.Home.StoreFile())
	if err != nil || !strings.HasPrefix(string(text), "postgres ") || strings.Contains(string(text), "://") {
		t.Errorf("the home has %q, %v", text, err)
	}
}

func TestExaminingCreatesNothing(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		if _, err := Examine(t.Context(), o, false, nil); err == nil {
			t.Error("without a home: nothing was said")
		}
		if _, err := os.Lstat(string(o.Home)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a home was made: %v", err)
		}
		if err := o.Home.Make(); err != nil {
			t.Fatal(err)
		}
		before := files(t, o)
		_, err := Examine(t.Context(), o, true, nil)
		_, backing := Backup(t.Context(), o, filepath.Join(t.TempDir(), "backup"))
		for _, err := range []error{err, backing} {
			if parley.AsError(err).Reason != parley.NotFound || !strings.Contains(err.Error(), "nothing is stored yet") {
				t.Errorf("got %v", err)
			}
		}
		if after := files(t, o); len(after) != len(before) {
			t.Errorf("there is %v, and was %v", after, before)
		}
		if err := (&Server{Options: o}).requireData(t.Context()); parley.AsError(err).Reason != parley.NotFound {
			t.Errorf("something is stored now: %v", err)
		}
	})
}

func TestARefusedRestoreLeavesNoHome(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		if _, err := Restore(t.Context(), o, t.TempDir()); err == nil {
			t.Error("an empty directory was restored")
		}
		if _, err := os.Lstat(string(o.Home)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a home was made: %v", err)
		}
		s := start(t, o)
		defer stop(t, s)
		if _, err := s.hub.Agents(t.Context(), hub.Caller{Agent: parley.Owner}); err != nil {
			t.Error(err)
		}
	})
}

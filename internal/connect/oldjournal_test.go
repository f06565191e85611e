//go:build unix

package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// makeOld gives the journal of a connection the name and the text that it had while a home had one connection for each client.
func (u *user) makeOld(s Setup, name string) {
	u.t.Helper()
	file := s.Connection().journal(u.hub).path()
	text, err := os.ReadFile(file)
	u.must(err)
	var c map[string]any
	u.must(json.Unmarshal(text, &c))
	delete(c, "user")
	delete(c, "dir")
	text, err = json.Marshal(c)
	u.must(err)
	u.must(os.WriteFile(filepath.Join(u.hub.Clients(), name), text, 0o600))
	u.must(os.Remove(file))
}

// journals returns the names of the journals in the home.
func (u *user) journals() (names []string) {
	u.t.Helper()
	entries, err := os.ReadDir(u.hub.Clients())
	u.must(err)
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names
}

// TestOldJournals: of the user, of a directory that a variable names, and of a project. Such a connection is known, can be connected
// again, which renames its journal, and can be disconnected.
func TestOldJournals(t *testing.T) {
	places := map[string]struct {
		journal string
		at      func(u *user, s Setup) Setup
	}{
		"user": {"gemini.json", func(_ *user, s Setup) Setup { return s }},
		"directory": {"gemini.json", func(u *user, _ Setup) Setup {
			u.env["GEMINI_CLI_HOME"] = WithoutLinks(u.t.TempDir())
			return u.setup("gemini", "ana")
		}},
		"project": {"gemini-0badcafe.json", func(u *user, s Setup) Setup {
			s.Project = u.path("project")
			u.must(os.Mkdir(s.Project, 0o755))
			return s
		}},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.m.UserHome = WithoutLinks(u.m.UserHome)
			t.Setenv("HOME", u.m.UserHome)
			u.write(".gemini/settings.json", "{}\n", 0o600)
			s := place.at(u, u.setup("gemini", "ana"))
			before := u.snapshot()
			u.connect(s)
			u.makeOld(s, place.journal)

			known, err := Load(u.hub, s)
			if err != nil || known == nil || known.Agent != "ana" || !known.Same(s.Connection()) {
				t.Fatalf("it is %+v, %v", known, err)
			}
			list, err := List(u.hub)
			if err != nil || len(list) != 1 || !list[0].Same(s.Connection()) {
				t.Errorf("all are %+v, %v", list, err)
			}
			u.must(s.CheckShared(list))
			elsewhere := s
			elsewhere.Project, elsewhere.Dir = "", u.path("elsewhere")
			if other, err := Load(u.hub, elsewhere); other != nil || err != nil {
				t.Errorf("elsewhere it is %+v, %v", other, err)
			}

			u.must(u.disconnect(s))
			u.isAsBefore(before)
			if left := u.journals(); len(left) > 0 {
				t.Errorf("disconnected, and %q are left", left)
			}

			u.connect(s)
			u.makeOld(s, place.journal)
			u.connect(s)
			if names := u.journals(); len(names) != 1 || names[0] == place.journal || !strings.HasPrefix(names[0], "gemini-") {
				t.Errorf("connected again, the journals are %q", names)
			}
			u.must(u.disconnect(s))
			u.isAsBefore(before)
		})
	}
}

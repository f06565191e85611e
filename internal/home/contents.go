package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// hubFiles are the names that a hub creates in its home.
var hubFiles = []string{
	"run", "config.yaml", "store", "node", "agents", "log", "audit.head", "parley.db", "artifacts", "backups", "parley.lock", "parley.mark", "parley.head",
	"parley.unchecked", "parley.sock", clientsDir,
}

// Contents returns the names of all files in a home. It returns E003 for a directory that is not a home, and for a home with
// files that no hub created, because Remove must not remove such files.
func (d Dir) Contents() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(d.runFile("hub.lock")); err != nil {
		return nil, parley.Errorf(parley.BadInput, "%s is not the home of a hub", d).Suggest("name the home with --home")
	}
	var others []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		if !isHubFile(entry.Name()) {
			others = append(others, entry.Name())
		}
	}
	if len(others) > 0 {
		return nil, parley.Errorf(parley.BadInput, "the home %s has files that are not Parley's: %s", d, strings.Join(others, ", ")).
			Suggest("move them elsewhere first")
	}
	return names, nil
}

// isHubFile reports whether a file with this name is the hub's. SQLite and unfinished writes create further files beside the
// files of the hub; these are the hub's too.
func isHubFile(name string) bool {
	return slices.ContainsFunc(hubFiles, func(known string) bool {
		rest, found := strings.CutPrefix(name, known)
		return found && slices.Contains([]string{"", "-wal", "-shm", "-journal", ".tmp", ".restoring"}, rest)
	})
}

// Remove removes the home with all its files, and releases the lock. It removes nothing if Contents returns an error.
func (l *Lock) Remove() error {
	names, err := l.dir.Contents()
	if err != nil {
		return err
	}
	slices.SortFunc(names, func(a, b string) int { // "run" with the lock comes last
		return strings.Compare(fmt.Sprint(a == "run", a), fmt.Sprint(b == "run", b))
	})
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(string(l.dir), name)); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(string(l.dir)), l.file.Close())
}

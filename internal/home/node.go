package home

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Node returns a name that distinguishes this home from the homes of other hubs with the same store. The first call creates the
// name and saves it in the file node. By this name, the next hub in the home finds the rows that the previous hub left.
func (l *Lock) Node() (string, error) {
	path := filepath.Join(string(l.dir), "node")
	text, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	name := hex.EncodeToString(random[:])
	return name, explainFullDisk(l.dir, replaceDurably(path, []byte(name+"\n")))
}

package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// maxSocketPath is the longest path of a socket that every system supports.
const maxSocketPath = 100

// Socket returns the path of the hub's socket: in the home or, if that path is too long, in a directory of this user
// under a name derived from the home.
func (d Dir) Socket() string {
	inside := filepath.Join(string(d), "parley.sock")
	if len(inside) <= maxSocketPath {
		return inside
	}
	digest := sha256.Sum256([]byte(d))
	name := hex.EncodeToString(digest[:8]) + ".sock"
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		if path := filepath.Join(runtime, "parley", name); len(path) <= maxSocketPath {
			return path
		}
	}
	return filepath.Join("/tmp", fmt.Sprintf("parley-%d", os.Getuid()), name)
}

// Listen creates the socket. It removes the socket of a killed hub, which is safe while this process has the lock.
// Nobody else can enter the directory, so nobody can connect before the permissions of the socket are set.
func (l *Lock) Listen() (net.Listener, error) {
	path := l.dir.Socket()
	var err error
	if dir := filepath.Dir(path); dir != string(l.dir) { // Make has already checked the home
		err = privateDir(dir)
	}
	var listener net.Listener
	if err == nil {
		listener, err = listenAt(path)
	}
	if err != nil {
		return nil, parley.Errorf(parley.Unavailable, "cannot create the socket %s: %w", path, err).
			Suggest("check the permissions of its directory, or choose another home with --home")
	}
	return listener, nil
}

func listenAt(path string) (net.Listener, error) {
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// privateDir makes sure that a directory exists, is not a link, and belongs to this user alone. Other users can create
// files in its parent: root must not put its socket where another user could replace it.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if !isMadeByUser(info) {
		return fmt.Errorf("another user created %s", dir)
	}
	return checkPrivate(dir, info)
}

// removeSocket removes a socket, but no other file.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = errors.New("a file that is not a socket has its name")
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

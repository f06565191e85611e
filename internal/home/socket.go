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

// Socket returns the path of the hub's socket. The socket is in the home. If that path would be too long, it is in a private
// directory of this user, and its name is derived from the path of the home.
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

// Listen creates the socket. It first removes the socket of a killed hub, which is safe because this process has the lock. No
// other user can enter the directory, so no other user can connect before Listen sets the permissions of the socket.
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

// privateDir creates a directory if it does not exist. It returns an error if the directory is a link, or if other users own it
// or can enter it. Other users can create files in the parent directory, so even root must not use a directory of another user.
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
		err = errors.New("another file, which is not a socket, has this name")
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

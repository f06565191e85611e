package notify

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/parley-hub/parley"
)

const maxSecret = 4 << 10

// Secret is the place of a secret: a file that only the hub's user may read, or an environment variable of the hub. The
// package reads the secret each time it needs it, so a new secret applies at once.
type Secret struct{ File, Env string }

func secretOf(file, env string) Secret { return Secret{file, env} }

// path returns the path of the file. A leading ~ stands for the home directory.
func (s Secret) path() string {
	rest, under := strings.CutPrefix(s.File, "~/")
	if dir, err := os.UserHomeDir(); under && err == nil {
		return filepath.Join(dir, rest)
	}
	return s.File
}

// read returns the secret, or "" if no place is set. No error contains the secret.
func (s Secret) read() (secret string, err error) {
	where := s.Env
	switch {
	case s.Env != "":
		secret = os.Getenv(s.Env)
	case s.File != "":
		where = s.path()
		if secret, err = readPrivate(where); err != nil {
			return "", err
		}
	default:
		return "", nil
	}
	secret = strings.TrimSpace(secret)
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if secret == "" || len(secret) > maxSecret || strings.ContainsFunc(secret, odd) {
		return "", parley.Errorf(parley.BadInput, "%s has no secret of a notifier", where).Suggest("it must hold the secret alone, on one line")
	}
	return secret, nil
}

// readPrivate reads a regular file. It refuses a file that other users may read.
func readPrivate(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", unreadable(path, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", unreadable(path, err)
	case !info.Mode().IsRegular():
		return "", unreadable(path, errors.New("it is not a regular file"))
	case info.Mode().Perm()&0o077 != 0:
		return "", parley.Errorf(parley.BadInput, "other users can read %s (mode %04o), which has a secret of a notifier", path, info.Mode().Perm()).
			Suggest("chmod 600 %s, and consider a new secret", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", unreadable(path, err)
	}
	return string(text), nil
}

func unreadable(path string, err error) error {
	return parley.Errorf(parley.BadInput, "cannot read %s, which should have a secret of a notifier: %w", path, err).
		Suggest("write the secret into it, and chmod 600 %s", path)
}

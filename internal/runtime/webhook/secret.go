package webhook

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-hub/parley"
)

const (
	secretName      = "webhook.secret"
	secretBytes     = 32
	minSecretLength = 16 // characters of a secret that a person has written
	maxSecretSize   = 1 << 10
)

// secret returns the secret that signs the calls of an agent. It makes a secret if there is none.
func (r *Runtime) secret(agent string) ([]byte, error) {
	r.secretMutex.Lock()
	defer r.secretMutex.Unlock()
	dir := r.options.Dir(agent)
	secret, err := readSecret(filepath.Join(dir, secretName))
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = makeSecret(dir)
	}
	if _, explained := errors.AsType[*parley.Error](err); err == nil || explained {
		return secret, err
	}
	return nil, parley.Errorf(parley.Unavailable, "cannot read the secret of %s: %w", agent, err).Suggest("check the permissions of %s", dir)
}

// readSecret reads a secret. It returns E003 if the path is not a regular file, other users may read the file, or it has no
// secret.
func readSecret(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretSize {
		return nil, parley.Errorf(parley.BadInput, "%s is not a file with a secret", path).Suggest("remove it: the hub creates a new one")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, parley.Errorf(parley.BadInput, "other users can read %s (mode %04o)", path, mode).
			Suggest("remove it: the hub creates a new one; then give the new secret to the receiver")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < minSecretLength {
		return nil, parley.Errorf(parley.BadInput, "%s has no secret of at least %d characters", path, minSecretLength).
			Suggest("remove it: the hub creates a new one")
	}
	return []byte(secret), nil
}

// makeSecret makes a new secret. It writes the file under another name first, so that a crash leaves no incomplete secret.
func makeSecret(dir string) ([]byte, error) {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails
	secret := []byte(hex.EncodeToString(random))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, secretName+".*") // 0600
	if err != nil {
		return nil, err
	}
	_, err = file.Write(append(secret, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, secretName))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(file.Name()))
	}
	return secret, nil
}

package llm

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/parley-hub/parley"
)

const (
	maxKey     = 4 << 10
	redactedAs = "[key]"
)

// key returns the key of a provider, or "" if the provider needs none. Each run reads the key anew, so a new key applies at
// once. It returns E003 if the key is missing, malformed, or readable by other users.
func (p Provider) key(name string, getenv func(string) string) (string, error) {
	switch {
	case p.KeyEnv != "":
		key := strings.TrimSpace(getenv(p.KeyEnv))
		if key == "" {
			return "", parley.Errorf(parley.BadInput, "provider %q has no key: the variable %s is not set", name, p.KeyEnv).
				Suggest("set %s in the environment of the hub, or key_file under providers.%s in config.yaml", p.KeyEnv, name)
		}
		return key, checkKey(key, p.KeyEnv)
	case p.KeyFile != "":
		key, err := readKey(p.KeyFile)
		if err != nil {
			return "", err
		}
		return key, checkKey(key, p.KeyFile)
	default:
		return "", nil
	}
}

// readKey reads a key file. It returns E003 if other users may read the file.
func readKey(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", parley.Errorf(parley.BadInput, "cannot read the key file %s: %w", path, errors.Unwrap(err)).
			Suggest("write the key into it, and chmod 600 %s", path)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", parley.Errorf(parley.BadInput, "cannot read the key file %s: %w", path, err)
	case !info.Mode().IsRegular():
		return "", parley.Errorf(parley.BadInput, "the key file %s is not a regular file", path).Suggest("write the key into a file")
	case info.Mode().Perm()&0o077 != 0:
		return "", parley.Errorf(parley.BadInput, "other users can read the key file %s (mode %04o)", path, info.Mode().Perm()).
			Suggest("chmod 600 %s, and consider a new key", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", parley.Errorf(parley.BadInput, "cannot read the key file %s: %w", path, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// checkKey returns E003 if a text cannot be a key. The error does not contain the text.
func checkKey(key, where string) error {
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if key == "" || len(key) > maxKey || strings.ContainsFunc(key, odd) {
		return parley.Errorf(parley.BadInput, "%s does not contain a key", where).Suggest("write only the key into it, on one line")
	}
	return nil
}

// redact replaces a key in a text.
func redact(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, redactedAs)
}

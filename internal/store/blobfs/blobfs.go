// Package blobfs keeps the bodies of artifacts as files, each under its digest: 2 hexadecimal digits,
// a slash, all 64. A body is written to a name of its own beside them, synced and renamed, so that
// nobody ever sees half of one. One process uses a directory at a time.
//
// Locks, in the order in which they are taken: pause (for reading by whoever removes a body, for
// writing by whoever copies them all), then the lock of the digest.
package blobfs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// Dir is a parley.Blobs on a directory.
type Dir struct {
	root  *os.Root
	locks [256]sync.Mutex // of digests, by their first byte
	pause sync.RWMutex
}

var _ storage.Blobs = (*Dir)(nil)

const (
	partial = "partial-" // begins the name of a body that is being written
	copying = 256 << 10  // bytes in memory while a body is written
)

// Open opens a directory, creating it where it does not exist, and removes what a crash has left in
// the middle of a Put.
func Open(dir string) (*Dir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &Dir{root: root}
	if err := d.clear(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return d, nil
}

func (d *Dir) clear() error {
	names, err := d.entries(".")
	for _, name := range names {
		if err == nil && strings.HasPrefix(name, partial) {
			err = d.root.Remove(name)
		}
	}
	return err
}

// OpenToRead opens a directory of bodies without changing anything. Only Open and List may be used.
func OpenToRead(dir string) (*Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root}, nil
}

// Close closes the directory. Bodies that are being read stay readable.
func (d *Dir) Close() error { return d.root.Close() }

// Pause waits for removals that have begun and prevents others until resume is called.
func (d *Dir) Pause() (resume func()) {
	d.pause.Lock()
	return d.pause.Unlock
}

// Put implements parley.Blobs.
func (d *Dir) Put(ctx context.Context, r io.Reader, limit int64, keep func(string, int64) error) error {
	name := partial + rand.Text()
	digest, size, err := d.write(ctx, name, r, limit)
	if err != nil {
		return errors.Join(explain(err), ignoreMissing(d.root.Remove(name)))
	}
	lock := d.lockOf(digest)
	lock.Lock()
	defer lock.Unlock()
	if err := d.publish(name, digest); err != nil {
		return errors.Join(explain(err), ignoreMissing(d.root.Remove(name)))
	}
	return keep(digest, size)
}

// write copies r to a file and syncs it.
func (d *Dir) write(ctx context.Context, name string, r io.Reader, limit int64) (digest string, size int64, err error) {
	file, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	from := io.LimitReader(parley.UntilDone(ctx, r), limit+1)
	size, err = io.CopyBuffer(io.MultiWriter(sum, file), from, make([]byte, copying))
	if err != nil {
		return "", 0, err
	}
	if size > limit {
		return "", 0, parley.TooLargeArtifact(limit)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, file.Sync()
}

// publish gives a written body its name, durably.
func (d *Dir) publish(name, digest string) error {
	dir := digest[:2]
	switch err := d.root.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
	case err != nil:
		return err
	default:
		if err := d.sync("."); err != nil {
			return err
		}
	}
	if err := d.root.Rename(name, path.Join(dir, digest)); err != nil {
		return err
	}
	return d.sync(dir)
}

// Open implements parley.Blobs.
func (d *Dir) Open(_ context.Context, digest string) (io.ReadCloser, int64, error) {
	if !digestForm.MatchString(digest) {
		return nil, 0, parley.ErrNotFound
	}
	name := Name(digest)
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, parley.ErrNotFound
	}
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, 0, parley.ErrDamaged
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil, 0, parley.ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	return parley.Verified(file, digest), info.Size(), nil
}

// Remove implements parley.Blobs.
func (d *Dir) Remove(_ context.Context, digest string, unneeded func() (bool, error)) error {
	if !digestForm.MatchString(digest) || !d.pause.TryRLock() {
		return nil
	}
	defer d.pause.RUnlock()
	lock := d.lockOf(digest)
	lock.Lock()
	defer lock.Unlock()
	if yes, err := unneeded(); err != nil || !yes {
		return err
	}
	// Not synced: a body that comes back after power loss is found and removed again.
	return ignoreMissing(d.root.Remove(Name(digest)))
}

// List implements parley.Blobs. What does not have a digest for a name is not looked at.
func (d *Dir) List(ctx context.Context, after string, limit int) (digests []string, err error) {
	for first := firstByte(after); first < 256 && len(digests) < limit; first++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		names, err := d.bodies(hex.EncodeToString([]byte{byte(first)}))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if name > after && len(digests) < limit {
				digests = append(digests, name)
			}
		}
	}
	return digests, nil
}

// bodies are the digests in one directory, in order.
func (d *Dir) bodies(dir string) ([]string, error) {
	names, err := d.entries(dir)
	names = slices.DeleteFunc(names, func(name string) bool { return !digestForm.MatchString(name) || name[:2] != dir })
	slices.Sort(names)
	return names, ignoreMissing(err)
}

func (d *Dir) entries(dir string) ([]string, error) {
	opened, err := d.root.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := opened.Readdirnames(-1)
	return names, errors.Join(err, opened.Close())
}

func (d *Dir) lockOf(digest string) *sync.Mutex { return &d.locks[firstByte(digest)] }

func (d *Dir) sync(dir string) error {
	opened, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Name is where a body is, from the directory.
func Name(digest string) string { return path.Join(digest[:2], digest) }

func firstByte(digest string) int {
	if len(digest) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(digest[:2], 16, 8)
	return int(n)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return parley.Errorf(parley.Unavailable, "the disk is full, the artifact was not stored: %w", err).
			Because(parley.StorageFull).Retryable(0).Suggest("make room on the disk of the hub's home and try again")
	}
	return err
}

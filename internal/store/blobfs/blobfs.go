// Package blobfs keeps the bodies of artifacts as files, each under its digest: the first 2 hexadecimal digits, a slash, all 64
// digits. A Put writes the body to a temporary file in the same directory, syncs it and renames it, so that no reader ever sees
// half of a body. Only one process may use a directory at a time.
//
// The order of the locks: pause first, then the lock of the digest. A removal takes pause for reading. A backup, which copies all
// bodies, takes it for writing.
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

// Dir implements storage.Blobs on a directory.
type Dir struct {
	root  *os.Root
	locks [256]sync.Mutex // the locks of digests, by the first byte of the digest
	pause sync.RWMutex
}

var _ storage.Blobs = (*Dir)(nil)

const (
	partialPrefix = "partial-" // begins the name of the temporary file of a Put
	copyBuffer    = 256 << 10  // size in bytes of the buffer for writing a body
)

// Open opens a directory, or makes it if it does not exist. It removes the temporary files that a crash in a Put has left.
func Open(dir string) (*Dir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &Dir{root: root}
	if err := d.removePartial(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return d, nil
}

func (d *Dir) removePartial() error {
	names, err := d.entries(".")
	for _, name := range names {
		if err == nil && strings.HasPrefix(name, partialPrefix) {
			err = d.root.Remove(name)
		}
	}
	return err
}

// OpenToRead opens a directory of bodies without changing anything. The caller may use only Open, List and Close.
func OpenToRead(dir string) (*Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root}, nil
}

// Close closes the directory. Open bodies stay readable.
func (d *Dir) Close() error { return d.root.Close() }

// Pause waits for running removals to end. Until the caller calls resume, Remove removes nothing.
func (d *Dir) Pause() (resume func()) {
	d.pause.Lock()
	return d.pause.Unlock
}

// Put implements storage.Blobs.
func (d *Dir) Put(ctx context.Context, r io.Reader, limit int64, keep func(string, int64) error) error {
	name := partialPrefix + rand.Text()
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
	size, err = io.CopyBuffer(io.MultiWriter(sum, file), from, make([]byte, copyBuffer))
	if err != nil {
		return "", 0, err
	}
	if size > limit {
		return "", 0, parley.TooLargeArtifact(limit)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, file.Sync()
}

// publish renames the temporary file of a body to its final name, and syncs the directory.
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

// Open implements storage.Blobs.
func (d *Dir) Open(_ context.Context, digest string) (io.ReadCloser, int64, error) {
	if !digestForm.MatchString(digest) {
		return nil, 0, parley.ErrNotFound
	}
	name := Name(digest)
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, parley.ErrNotFound
	}
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would block for ever
		return nil, 0, parley.ErrDamaged
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // removed after Lstat
		return nil, 0, parley.ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	return parley.Verified(file, digest), info.Size(), nil
}

// Remove implements storage.Blobs.
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
	// The directory is not synced. If the body comes back after a power loss, a later sweep removes it again.
	return ignoreMissing(d.root.Remove(Name(digest)))
}

// List implements storage.Blobs. It ignores files whose name is no digest.
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

// bodies returns the digests in one directory, in order.
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

// Name returns the path of a body within the directory.
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
		return parley.Errorf(parley.Unavailable, "the disk is full, and the artifact was not stored: %w", err).
			Because(parley.StorageFull).Retryable(0).Suggest("free space on the disk of the hub's home, and try again")
	}
	return err
}

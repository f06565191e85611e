package bridge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
)

// ownFolder is the folder of Parley's own files.
const ownFolder = ".parley"

// tree is a directory tree. It never reaches outside of its root and never follows a link.
type tree struct {
	root      *os.Root
	owners    []uint32     // whose files are read: the root's owner, the process's, and the superuser
	dir       string       // where it is
	info      fs.FileInfo  // of its root
	remote    bool         // processes of other machines may be at it too
	checkLock func() error // says whether the lock is still there; nil: it is not taken yet
	// listsName says, in tests, whether a listing shows a name yet. A file server's clients see some late.
	listsName func(dir, name string) bool
	// onStep is what happens, in tests, just before something is done: others are at the tree too, and disks fail.
	onStep     func(deed, at string) error
	flock      func(fd, how int) error
	changeTime func(fs.FileInfo) time.Time // when a file was last written, renamed or given other rights
	deleting   sync.Mutex                  // one file at a time is about to be deleted
}

// What others may come before.
const (
	listing = "list"
	opening = "open"
	writing = "write"
	moving  = "move"
)

func (t *tree) step(deed, at string) error {
	if t.onStep == nil {
		return nil
	}
	return t.onStep(deed, at)
}

// openTree opens a tree by the absolute path of its root.
func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	stat := info.Sys().(*syscall.Stat_t)
	owners := []uint32{stat.Uid, uint32(os.Geteuid()), 0} //nolint:gosec // a user's id is not negative
	return &tree{root: root, owners: owners, dir: dir, info: info, remote: isRemote(dir), flock: syscall.Flock, changeTime: statusChange}, nil
}

func (t *tree) close() error { return t.root.Close() }

// open opens a folder by its path below the root. fs.ErrNotExist if it is not there, and a refusal if any part of it is a link or
// no directory. Whoever opens it closes it.
func (t *tree) open(dir string) (*folder, error) { return t.walk(dir, (*folder).enter) }

// make opens a folder and creates what is missing of it. Every write begins with it. errLockLost if another bridge may have
// the tree.
func (t *tree) make(dir string) (*folder, error) {
	if t.checkLock != nil {
		if err := t.checkLock(); err != nil {
			return nil, err
		}
	}
	return t.walk(dir, func(f *folder, name string) (*folder, error) {
		next, err := f.enter(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return next, err
		}
		if err := f.mkdir(name); err != nil {
			return nil, err
		}
		return f.enter(name)
	})
}

func (t *tree) walk(dir string, step func(*folder, string) (*folder, error)) (*folder, error) {
	root, err := t.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	f := &folder{tree: t, root: root}
	if dir == "" || dir == "." {
		return f, nil
	}
	for name := range strings.SplitSeq(dir, "/") {
		if name == "" || name == "." { // the root itself
			continue
		}
		next, err := step(f, name)
		f.close()
		if err != nil {
			return nil, err
		}
		f = next
	}
	return f, nil
}

// inFolder opens a folder for one thing that is done in it.
func (t *tree) inFolder(dir string, do func(*folder) error) error {
	f, err := t.open(dir)
	if err != nil {
		return err
	}
	defer f.close()
	return do(f)
}

// inMadeFolder is in, for a folder that is made where it is missing.
func (t *tree) inMadeFolder(dir string, do func(*folder) error) error {
	f, err := t.make(dir)
	if err != nil {
		return err
	}
	defer f.close()
	return do(f)
}

// read reads a file by its path below the root.
func (t *tree) read(at string, limit int64) (found file, err error) {
	err = t.inFolder(path.Dir(at), func(f *folder) error {
		found, err = f.read(path.Base(at), limit)
		return err
	})
	return found, err
}

// move moves a file into another folder, which it creates if it is missing. If the name is taken, the file gets another.
func (t *tree) move(f file, dir string) error {
	return t.inMadeFolder(dir, func(to *folder) error {
		as, err := to.free(f.name)
		if err != nil {
			return err
		}
		return t.carry(f, to, as)
	})
}

// carry moves a file to a free name, unless it was replaced: then it returns errReplaced and the replacement stays.
func (t *tree) carry(f file, to *folder, as string) error {
	return t.inFolder(path.Dir(f.path), func(from *folder) error {
		err := from.checkUnchanged(f.name, f)
		if err == nil {
			err = t.step(moving, f.path)
		}
		if err == nil {
			err = from.rename(f.name, to, as)
		}
		if err != nil {
			return err
		}
		if err = to.checkUnchanged(as, f); errors.Is(err, errReplaced) {
			err = errors.Join(err, to.putBack(as, from, f.name))
		}
		return err
	})
}

// consume deletes a file, unless it was replaced. It moves the file first, so that nobody can replace it in between.
func (t *tree) consume(f file) error {
	t.deleting.Lock()
	defer t.deleting.Unlock()
	return t.inMadeFolder(ownFolder, func(to *folder) error {
		if err := to.remove(consumed); err != nil {
			return err
		}
		if err := t.carry(f, to, consumed); err != nil {
			return err
		}
		return to.remove(consumed)
	})
}

// consumed is the name of a file that is about to be deleted.
const consumed = "consumed"

// isOwner reports whether files of an owner are read.
func (t *tree) isOwner(info fs.FileInfo) bool {
	return slices.Contains(t.owners, info.Sys().(*syscall.Stat_t).Uid)
}

// checkName refuses what is no plain name in a folder.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return refuse("%q is no name of a file", name)
	}
	return nil
}

// refuse is why a file is not read, for good.
func refuse(format string, args ...any) *parley.Error {
	return parley.Errorf(parley.BadInput, "%s", fmt.Sprintf(format, args...))
}

// refusal is the refusal that an error is, or nil for one that may go away by itself.
func refusal(err error) *parley.Error {
	e, ok := errors.AsType[*parley.Error](err)
	if ok && (e.Code == parley.BadInput || e.Code == parley.NotPermitted) {
		return e
	}
	return nil
}

// conflict says that a name is in use by another file.
func conflict(at string) error {
	return parley.Errorf(parley.BadInput, "%s is there already, and it is another document", at).Because(parley.Conflict).
		Suggest("send it again: it gets another name; and have scripts use names of their own")
}

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

// tree is an open directory tree. Its methods never leave the root and never follow a link.
type tree struct {
	root      *os.Root
	owners    []uint32     // owners of files that may be read: the owner of the root, the user of this process, and the superuser
	dir       string       // its absolute path
	info      fs.FileInfo  // describes the root
	remote    bool         // processes of other machines may use it too
	checkLock func() error // returns errLockLost if the lock was removed; nil before the lock is taken
	// listsName reports, in tests, whether a listing contains a name. Clients of a file server see some names late.
	listsName func(dir, name string) bool
	// onStep is called, in tests, before each action. It can change the tree or return an error.
	onStep     func(action, at string) error
	flock      func(fd, how int) error
	changeTime func(fs.FileInfo) time.Time // returns when a file was last written, renamed or given other permissions
	deleting   sync.Mutex                  // held while a file is being deleted
}

// The actions that onStep is called before.
const (
	listing = "list"
	opening = "open"
	writing = "write"
	moving  = "move"
)

func (t *tree) step(action, at string) error {
	if t.onStep == nil {
		return nil
	}
	return t.onStep(action, at)
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

// open opens a folder by its path below the root. It returns fs.ErrNotExist if the folder is missing, and E003 if a part of the
// path is a link or another file. The caller closes the folder.
func (t *tree) open(dir string) (*folder, error) { return t.walk(dir, (*folder).enter) }

// make opens a folder and creates missing directories on the path. Every write begins with this call. It returns errLockLost if
// another bridge may use the tree.
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

// inFolder calls do with an open folder. It returns fs.ErrNotExist if the folder is missing.
func (t *tree) inFolder(dir string, do func(*folder) error) error {
	f, err := t.open(dir)
	if err != nil {
		return err
	}
	defer f.close()
	return do(f)
}

// inMadeFolder calls do with an open folder, which it creates if it is missing.
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

// move moves a file into another folder, which it creates if it is missing. If the name is taken, the file gets another name.
func (t *tree) move(f file, dir string) error {
	return t.inMadeFolder(dir, func(to *folder) error {
		newName, err := to.freeName(f.name)
		if err != nil {
			return err
		}
		return t.moveAs(f, to, newName)
	})
}

// moveAs moves a file to a free name. If the file was replaced, it returns errReplaced and leaves the replacement in place.
func (t *tree) moveAs(f file, to *folder, newName string) error {
	return t.inFolder(path.Dir(f.path), func(from *folder) error {
		err := from.checkUnchanged(f.name, f)
		if err == nil {
			err = t.step(moving, f.path)
		}
		if err == nil {
			err = from.rename(f.name, to, newName)
		}
		if err != nil {
			return err
		}
		if err = to.checkUnchanged(newName, f); errors.Is(err, errReplaced) {
			err = errors.Join(err, to.putBack(newName, from, f.name))
		}
		return err
	})
}

// consume deletes a file. If the file was replaced, it returns errReplaced. It moves the file to deletingName first, so that
// nobody can replace the file in between.
func (t *tree) consume(f file) error {
	t.deleting.Lock()
	defer t.deleting.Unlock()
	return t.inMadeFolder(ownFolder, func(to *folder) error {
		if err := to.remove(deletingName); err != nil {
			return err
		}
		if err := t.moveAs(f, to, deletingName); err != nil {
			return err
		}
		return to.remove(deletingName)
	})
}

// deletingName is the name of a file that is about to be deleted.
const deletingName = "consumed"

// isOwner reports whether the bridge reads files of the owner of this file.
func (t *tree) isOwner(info fs.FileInfo) bool {
	return slices.Contains(t.owners, info.Sys().(*syscall.Stat_t).Uid)
}

// checkName returns E003 if a name is not a plain name in a folder.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return errRefused("%q is not a valid file name", name)
	}
	return nil
}

// errRefused returns the error for a file that is refused for good.
func errRefused(format string, args ...any) *parley.Error {
	return parley.Errorf(parley.BadInput, "%s", fmt.Sprintf(format, args...))
}

// refusalOf returns an error as a refusal for good, or nil if a retry may succeed.
func refusalOf(err error) *parley.Error {
	e, ok := errors.AsType[*parley.Error](err)
	if ok && (e.Code == parley.BadInput || e.Code == parley.NotPermitted) {
		return e
	}
	return nil
}

// conflict returns the error for a name that another document has.
func conflict(at string) error {
	return parley.Errorf(parley.BadInput, "%s exists already, and is another document", at).Because(parley.Conflict).
		Suggest("send the message again: its file gets another name; make scripts use other names")
}

package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/parley-hub/parley/internal/dialect"
)

// folder is a directory of a tree that was opened without following a link. Its methods take single names and refuse
// anything else.
type folder struct {
	tree *tree
	path string // below the root; empty for the root itself
	root *os.Root
}

// namesPerRead is how many names of a directory are read at a time.
const namesPerRead = 1024

// errReplaced is the error for a file that was replaced before the bridge could open or move it. A later poll reads the new file.
var errReplaced = errors.New("the file was replaced while it was opened")

func (f *folder) close() { _ = f.root.Close() }

// enter opens a folder in this one. Without the dot in the path, opening a FIFO with that name would wait for a writer.
func (f *folder) enter(name string) (*folder, error) {
	at := path.Join(f.path, name)
	before, err := f.stat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errRefused("%s is %s, not a directory", at, kind(before))
	}
	root, err := f.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	next := &folder{tree: f.tree, path: at, root: root}
	if after, err := root.Stat("."); err != nil || !os.SameFile(before, after) {
		next.close()
		return nil, errors.Join(err, errReplaced)
	}
	return next, nil
}

func (f *folder) mkdir(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := f.root.Mkdir(name, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f.copyMode(name)
	return f.giveToOwner(name)
}

// stat describes a name. It does not follow a link.
func (f *folder) stat(name string) (fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return f.root.Lstat(name)
}

// list calls visit for all names in the folder, some at a time, in no order. It stops at the first error of visit.
func (f *folder) list(visit func(names []string) error) error {
	if err := f.tree.step(listing, f.path); err != nil {
		return err
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	for {
		names, err := dir.Readdirnames(namesPerRead)
		if visitErr := visit(f.listedNames(names)); visitErr != nil {
			return visitErr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (f *folder) listedNames(names []string) []string {
	if f.tree.listsName == nil {
		return names
	}
	listed := names[:0]
	for _, name := range names {
		if f.tree.listsName(f.path, name) {
			listed = append(listed, name)
		}
	}
	return listed
}

// folders returns the names of the directories in the folder, without links to directories.
func (f *folder) folders() ([]string, error) {
	found, _, err := f.foldersAndLinks()
	return found, err
}

// foldersAndLinks returns the names of the directories and the names of the symbolic links in the folder.
func (f *folder) foldersAndLinks() (found, links []string, err error) {
	err = f.list(func(names []string) error {
		for _, name := range names {
			info, err := f.root.Lstat(name)
			switch {
			case err != nil:
			case info.IsDir():
				found = append(found, name)
			case info.Mode()&fs.ModeSymlink != 0:
				links = append(links, name)
			}
		}
		return nil
	})
	return found, links, err
}

// describe describes a file without reading it.
func (f *folder) describe(name string) file {
	found := file{name: name, path: path.Join(f.path, name)}
	if info, err := f.stat(name); err == nil {
		found.info, found.size, found.mtime = info, info.Size(), info.ModTime()
	}
	return found
}

// read reads a regular file. It returns a *parley.Error if the file is refused, fs.ErrNotExist if it is missing, and errReplaced.
// With an error it still describes the file as far as possible.
func (f *folder) read(name string, limit int64) (file, error) {
	found := file{name: name, path: path.Join(f.path, name)}
	handle, info, err := f.openFile(name, os.O_RDONLY)
	if info != nil {
		found.info, found.size, found.mtime = info, info.Size(), info.ModTime()
	}
	if err != nil {
		return found, err
	}
	defer handle.Close() //nolint:errcheck // nothing was written
	if info.Size() > limit {
		found.head, _ = io.ReadAll(io.LimitReader(handle, dialect.PeekSize)) // if this fails, the sender cannot be told
		return found, tooLarge(found.path, limit)
	}
	found.raw, err = io.ReadAll(io.LimitReader(handle, limit+1))
	if err != nil {
		return found, err
	}
	if int64(len(found.raw)) > limit {
		return found, tooLarge(found.path, limit)
	}
	found.digest = digest(found.raw)
	return found, nil
}

func tooLarge(at string, limit int64) error {
	return errRefused("%s is larger than %d bytes", at, limit).Suggest("put long content into a separate file, and name that file in the text")
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// openFile opens a regular file, or creates one if flag says so. It checks the file before, because opening follows links
// and waits for FIFOs, and after, because the file may have been replaced. It also returns the
// description of a refused file.
func (f *folder) openFile(name string, flag int) (*os.File, fs.FileInfo, error) {
	before, err := f.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		flag |= os.O_EXCL
	case err != nil:
		return nil, nil, err
	default:
		if err := f.check(name, before); err != nil {
			return nil, before, err
		}
	}
	if err := f.tree.step(opening, path.Join(f.path, name)); err != nil {
		return nil, nil, err
	}
	handle, err := f.root.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, nil, err
	}
	if before == nil {
		_ = handle.Chmod(f.readableMode() | f.mode()&0o020) // scripts also write into a log
	}
	after, err := handle.Stat()
	if err == nil && before != nil && !os.SameFile(before, after) {
		err = errReplaced
	}
	if err == nil {
		err = f.check(name, after)
	}
	if err != nil {
		return nil, after, errors.Join(err, handle.Close())
	}
	return handle, after, nil
}

// check refuses everything but a plain file with one name and an allowed owner.
func (f *folder) check(name string, info fs.FileInfo) error {
	at := path.Join(f.path, name)
	switch {
	case !info.Mode().IsRegular():
		return errRefused("%s is %s, not a regular file", at, kind(info)).Suggest("write the document itself there, as a regular file")
	case info.Sys().(*syscall.Stat_t).Nlink > 1:
		return errRefused("%s is a hard link: the file has another name too", at).Suggest("copy the document instead of linking it")
	case !f.tree.isOwner(info):
		return errRefused("%s and the tree belong to different users", at).Suggest("write it as the user that owns the tree")
	}
	return nil
}

// kind returns the name of a file type.
func kind(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	default:
		return "a device"
	}
}

// write writes a document under a new name. It accepts an existing file with the same contents, because an earlier attempt may
// have written it. E003 if a file with other contents has the name.
func (f *folder) write(name string, raw []byte) error {
	existing, err := f.read(name, int64(len(raw)))
	switch {
	case err == nil && bytes.Equal(existing.raw, raw):
		return f.sync()
	case errors.Is(err, fs.ErrNotExist):
		return f.replace(name, raw)
	case err == nil || refusalOf(err) != nil:
		return conflict(path.Join(f.path, name))
	default:
		return err
	}
}

// replace writes a document and overwrites a file with its name. It writes a temporary file first, so that nobody reads half of
// the document.
func (f *folder) replace(name string, raw []byte) error {
	if err := f.writeBeside(name, raw, (*os.File).Sync); err != nil {
		return err
	}
	return f.sync()
}

// refresh replaces a file that need not survive a crash.
func (f *folder) refresh(name string, raw []byte) error {
	return f.writeBeside(name, raw, func(*os.File) error { return nil })
}

func (f *folder) writeBeside(name string, raw []byte, sync func(*os.File) error) error {
	if err := checkName(name); err != nil {
		return err
	}
	temporary := strings.TrimSuffix(name, ".json") + ".tmp"
	err := f.writeNew(temporary, raw, sync)
	if err == nil {
		err = f.root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, f.remove(temporary))
	}
	return nil
}

// writeNew writes a new file. It first removes a file of that name, which a crash may have left.
func (f *folder) writeNew(name string, raw []byte, sync func(*os.File) error) error {
	if err := f.remove(name); err != nil {
		return err
	}
	handle, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_ = handle.Chmod(f.readableMode()) // some file servers have no permissions
	if err = f.tree.step(writing, path.Join(f.path, name)); err == nil {
		_, err = handle.Write(raw)
	}
	if err == nil {
		err = sync(handle)
	}
	if err = errors.Join(err, handle.Close()); err != nil {
		return err
	}
	return f.giveToOwner(name)
}

// remove removes a file. A missing file is no error.
func (f *folder) remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sync makes the names in the folder durable.
func (f *folder) sync() error {
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// freeName returns a name that is free in the folder: the name itself, or one with a number.
func (f *folder) freeName(name string) (string, error) {
	candidateName := name
	for n := 2; ; n++ {
		if _, err := f.stat(candidateName); errors.Is(err, fs.ErrNotExist) {
			return candidateName, nil
		} else if err != nil {
			return "", err
		}
		suffix := path.Ext(name)
		candidateName = fmt.Sprintf("%s~%d%s", strings.TrimSuffix(name, suffix), n, suffix)
	}
}

package connect

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/parley-hub/parley"
)

// file is a file of a client, in a directory that all access goes through. It has the things that Parley adds to it.
type file struct {
	root  string // an absolute path
	name  string // with slashes, below the root
	edits []edit
}

func (f file) path() string { return filepath.Join(f.root, filepath.FromSlash(f.name)) }

// content is what a file holds at a moment. info is nil if there is no file.
type content struct {
	text []byte
	info fs.FileInfo
}

// same reports whether nobody has changed a file between two moments.
func (c content) same(other content) bool {
	if c.info == nil || other.info == nil {
		return c.info == nil && other.info == nil
	}
	return os.SameFile(c.info, other.info) && c.info.Mode() == other.info.Mode() && bytes.Equal(c.text, other.text)
}

// maxFile is the size in bytes above which Parley does not read a file of a client.
const maxFile = 64 << 20

// newFileMode is the mode of files that Parley creates.
const newFileMode = 0o600

// open opens the directory of the file. The caller closes it.
func (f file) open() (*os.Root, error) {
	root, err := os.OpenRoot(f.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, parley.Errorf(parley.BadInput, "the directory %s does not exist", f.root).Suggest("create it, or unset the variable that names it")
	}
	return root, err
}

// read returns what the file holds. It refuses a link, another user's file, and what is no file.
func (f file) read() (c content, err error) { return f.readUpTo(maxFile) }

// readUpTo is read for files of at most so many bytes.
func (f file) readUpTo(most int) (c content, err error) {
	root, err := f.open()
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return f.readIn(root, most)
}

func (f file) readIn(root *os.Root, most int) (c content, err error) {
	if missing, err := f.checkDirs(root); missing || err != nil {
		return c, err
	}
	info, err := root.Lstat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = checkFile(f.path(), info)
	}
	if err != nil {
		return c, err
	}
	opened, err := root.Open(f.name)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	now, err := opened.Stat()
	if err != nil {
		return c, err
	}
	if !os.SameFile(info, now) {
		return c, editedError(f.path())
	}
	text, err := io.ReadAll(io.LimitReader(opened, int64(most)+1))
	if err == nil && len(text) > most {
		err = parley.Errorf(parley.BadInput, "%s has more than %d KiB", f.path(), most>>10)
	}
	return content{append([]byte{}, text...), now}, err
}

// checkDirs checks the directories between the root and the file. missing reports that one of them does not exist.
func (f file) checkDirs(root *os.Root) (missing bool, err error) {
	for _, dir := range f.dirs() {
		info, err := root.Lstat(dir)
		at := filepath.Join(f.root, filepath.FromSlash(dir))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return true, nil
		case err != nil:
			return false, err
		case info.Mode()&fs.ModeSymlink != 0:
			return false, linkError(at)
		case !info.IsDir():
			return false, parley.Errorf(parley.BadInput, "%s is not a directory", at).Suggest("move it away, and connect the client again")
		case !isOwnedByUser(info):
			return false, ownerError(at)
		}
	}
	return false, nil
}

// dirs returns the directories between the root and the file, the outermost first.
func (f file) dirs() (dirs []string) {
	for dir := path.Dir(path.Clean(f.name)); dir != "."; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// missingDirs returns the directories that write would create, the outermost first.
func (f file) missingDirs() (missing []string) {
	for _, dir := range f.dirs() {
		if _, err := os.Lstat(filepath.Join(f.root, filepath.FromSlash(dir))); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, dir)
		}
	}
	return missing
}

func checkFile(at string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return linkError(at)
	case !info.Mode().IsRegular():
		return parley.Errorf(parley.BadInput, "%s is not a regular file", at).Suggest("move it away, and connect the client again")
	case hasOtherNames(info):
		return parley.Errorf(parley.BadInput, "%s is a hard link: the file has another name too, which would keep the old text", at).
			Suggest("replace it by a copy of its own: cp %[1]s %[1]s.copy && mv %[1]s.copy %[1]s", at)
	case !isOwnedByUser(info):
		return ownerError(at)
	default:
		return nil
	}
}

// ErrLink is the cause of errors for symbolic links.
var ErrLink = errors.New("a symbolic link")

// linkError refuses a symbolic link. A program that manages a person's files may have put it there, and another user may have planted it.
func linkError(at string) error {
	to, err := os.Readlink(at)
	if err != nil {
		to = "another file"
	}
	return parley.Errorf(parley.BadInput, "%s is a symbolic link to %s, and Parley does not write through links", at, to).
		Suggest("replace the link by the file itself, or make the change by hand where the link leads; --dry-run shows it").From(ErrLink)
}

func ownerError(at string) error {
	return parley.Errorf(parley.BadInput, "%s belongs to another user", at).Suggest("run this command as the owner of the file")
}

func editedError(at string) error {
	return parley.Errorf(parley.Unavailable, "another program changed %s at this moment; its change is kept", at).Because(parley.Conflict).Suggest("run the command again")
}

// checkWritable refuses a file that its owner has made read-only. Root could write it all the same.
func (c content) checkWritable(at string) error {
	if c.info != nil && c.info.Mode().Perm()&0o200 == 0 {
		return parley.Errorf(parley.BadInput, "%s is read-only (mode %04o)", at, c.info.Mode().Perm()).Suggest("if you want to change it: chmod u+w %s", at)
	}
	return nil
}

// temporary returns the name of the file from which the new text is renamed into place.
func (f file) temporary() string {
	return path.Join(path.Dir(f.name), "."+strings.TrimPrefix(path.Base(f.name), ".")+".parley-tmp")
}

// write replaces the text of the file durably, and keeps its mode. It returns E002 (Conflict) and writes nothing if the file is not as
// before says.
func (f file) write(before content, text []byte) (err error) {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := before.checkWritable(f.path()); err != nil {
		return err
	}
	for _, dir := range f.dirs() {
		if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return f.explain(err)
		}
	}
	if err := f.writeTemporary(root, before, text); err != nil {
		return f.explain(errors.Join(err, ignoreMissing(root.Remove(f.temporary()))))
	}
	now, err := f.readIn(root, maxFile)
	if err == nil && !now.same(before) {
		err = editedError(f.path())
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(f.temporary())))
	}
	return f.explain(errors.Join(f.putInPlace(root, before), syncDir(root, path.Dir(f.name))))
}

// explain adds the name of the file to an error of the file system.
func (f file) explain(err error) error {
	if _, explained := errors.AsType[*parley.Error](err); err == nil || explained {
		return err
	}
	return parley.Errorf(parley.Unavailable, "cannot write %s: %w", f.path(), err).Suggest("check the permissions of its directory and the space on its disk")
}

func (f file) writeTemporary(root *os.Root, before content, text []byte) error {
	if err := ignoreMissing(root.Remove(f.temporary())); err != nil { // left by a run that was killed
		return err
	}
	out, err := root.OpenFile(f.temporary(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err == nil && before.info != nil {
		err = out.Chmod(before.info.Mode().Perm())
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// putInPlace gives the temporary file its name. A file that did not exist gets a second name first, which fails if somebody has
// created it meanwhile.
func (f file) putInPlace(root *os.Root, before content) error {
	if before.info != nil {
		return root.Rename(f.temporary(), f.name)
	}
	err := root.Link(f.temporary(), f.name)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = editedError(f.path())
	case err != nil: // the file system has no links
		return root.Rename(f.temporary(), f.name)
	}
	return errors.Join(err, root.Remove(f.temporary()))
}

// remove removes the file. It returns E002 (Conflict) and removes nothing if the file is not as before says.
func (f file) remove(before content) (err error) {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	now, err := f.readIn(root, maxFile)
	if err != nil {
		return err
	}
	if !now.same(before) {
		return editedError(f.path())
	}
	return f.explain(errors.Join(root.Remove(f.name), syncDir(root, path.Dir(f.name))))
}

// removeDirs removes directories that are empty, the last first.
func (f file) removeDirs(dirs []string) (err error) {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for i := len(dirs) - 1; i >= 0; i-- {
		info, err := root.Lstat(dirs[i])
		if err != nil || !info.IsDir() || root.Remove(dirs[i]) != nil {
			return nil //nolint:nilerr // others have put something there
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func syncDir(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// firstExisting returns the first of some names that exists below a root, or the first one.
func firstExisting(root string, names ...string) string {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			return name
		}
	}
	return names[0]
}

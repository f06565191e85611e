package bridge

import (
	"errors"
	"os"
	"path"
)

// logSize is how large a log in a tree grows.
const logSize = 4 << 20

// appendLine adds one line to a file.
func (f *folder) appendLine(name, line string) error {
	handle, info, err := f.openFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = handle.WriteString(line + "\n")
	if err = errors.Join(err, handle.Close()); err != nil || info.Size() < logSize {
		return err
	}
	return f.rotate(file{name: name, path: path.Join(f.path, name)})
}

// rotate moves a log that has grown large to its old name, and replaces the log before it.
func (f *folder) rotate(log file) error {
	return f.tree.inMadeFolder(ownFolder, func(to *folder) error {
		as := log.name + ".1"
		if err := to.remove(as); err != nil {
			return err
		}
		return f.tree.carry(log, to, as)
	})
}

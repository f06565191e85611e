package bridge

import (
	"errors"
	"os"
	"path"
)

// logSize is the size at which a log in a tree is rotated, in bytes.
const logSize = 4 << 20

// appendLine adds one line to a log. It creates a missing log, and rotates a large one.
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

// rotate moves a log to .parley with the ending .1, and replaces the log that was rotated before.
func (f *folder) rotate(log file) error {
	return f.tree.inMadeFolder(ownFolder, func(to *folder) error {
		oldLog := log.name + ".1"
		if err := to.remove(oldLog); err != nil {
			return err
		}
		return f.tree.moveAs(log, to, oldLog)
	})
}

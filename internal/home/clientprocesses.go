package home

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// clientProcesses is the file with the processes of connected clients, in the directory of what belongs to clients.
const clientProcesses = "processes.json"

// ClientProcesses returns what SaveClientProcesses saved last. It returns an empty text if nothing was saved, and E003 if the file is
// a link, belongs to another user, or can be read by others.
func (d Dir) ClientProcesses() (text []byte, err error) {
	root, err := os.OpenRoot(d.Clients())
	if err == nil {
		defer func() { err = errors.Join(err, root.Close()) }()
		text, err = readClientProcesses(root)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// maxClientProcesses is the size in bytes above which a file is certainly not one that the hub has written.
const maxClientProcesses = 1 << 20

func readClientProcesses(root *os.Root) ([]byte, error) {
	before, err := root.Lstat(clientProcesses)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(root, clientProcesses, before)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxClientProcesses))
	return text, errors.Join(err, file.Close())
}

// SaveClientProcesses saves the processes of connected clients durably, for the next hub of the home.
func (d Dir) SaveClientProcesses(text []byte) error {
	if err := makeOwnDirs(d.Clients()); err != nil {
		return err
	}
	return explainFullDisk(d, replaceDurably(filepath.Join(d.Clients(), clientProcesses), append(text, '\n')))
}

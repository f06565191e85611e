package prompt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

const maxFileSize = 64 << 10 // bytes of an identity file in a prompt

// Files reads the identity files in an agent's directory. It skips files that do not exist, and returns nil if the directory
// does not exist. It returns E003 if a file is not a regular file, because a link could lead anywhere.
func Files(dir string) ([]parley.IdentityFile, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(dir, err)
	}
	defer func() { _ = root.Close() }()
	var files []parley.IdentityFile
	for _, name := range parley.IdentityFiles() {
		text, err := read(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fileError(name, err)
		}
		files = append(files, parley.IdentityFile{Name: name, Text: text})
	}
	return files, nil
}

func fileError(what string, err error) error {
	return parley.Errorf(parley.BadInput, "cannot read the identity file %s: %w", what, err).
		Suggest("make it a regular file that the hub can read, or remove it")
}

// read returns the text of a file. Another file may replace it between the check and the opening, so read checks the
// opened file too, and opens it without blocking.
func read(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	opened, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !os.SameFile(info, opened) {
		return "", errors.New("another program replaced it")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	return limitText(string(text), name), err
}

// limitText returns a text as valid UTF-8. It shortens a text that is too long.
func limitText(text, name string) string {
	if len(text) <= maxFileSize {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	end := maxFileSize
	for end > maxFileSize-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD") + fmt.Sprintf("\n(%s goes on; only its first %d KiB are shown)", name, maxFileSize>>10)
}

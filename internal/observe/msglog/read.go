package msglog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/parley-hub/parley"
)

// Tail calls pass with the newest lines that a filter selects, the newest last. With follow, it also calls pass with
// lines that are written later, until ctx is done or pass returns an error.
func (l *Log) Tail(ctx context.Context, f parley.LogFilter, follow bool, pass func([]parley.LogLine) error) error {
	lines, at, err := l.Read(f)
	if err == nil {
		err = pass(lines)
	}
	if err != nil || !follow {
		return err
	}
	return l.Follow(ctx, f, at, pass)
}

// Read returns the newest lines that a filter selects, the newest last, and the place after them.
func (l *Log) Read(f parley.LogFilter) (lines []parley.LogLine, at Place, err error) {
	files, at, err := l.files()
	defer func() {
		for _, file := range files {
			_ = file.Close() // a nil file returns an error that does not matter
		}
	}()
	for i, file := range files { // the newest first
		if err != nil || len(lines) >= f.Limit {
			break
		}
		if file == nil {
			continue
		}
		length := int64(1<<63 - 1)
		if i == 0 {
			length = at.offset
		}
		var older []parley.LogLine
		older, err = newestLines(io.LimitReader(file, length), f, f.Limit-len(lines))
		lines = append(older, lines...)
	}
	return lines, at, err
}

// Place is a place in the log between two lines.
type Place struct {
	rotation int
	offset   int64
}

// files opens all files as of one moment, the newest first. A missing file is nil.
func (l *Log) files() (files []*os.File, end Place, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ago := range l.Files {
		file, err := os.Open(l.path(ago))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return files, end, err
		}
		files = append(files, file)
	}
	return files, Place{l.rotations, l.size}, nil
}

// newestLines returns the last lines of a file that a filter selects. It skips malformed lines.
func newestLines(r io.Reader, f parley.LogFilter, limit int) (lines []parley.LogLine, err error) {
	all := bufio.NewScanner(r)
	for all.Scan() {
		var line parley.LogLine
		if json.Unmarshal(all.Bytes(), &line) != nil || !f.Selects(line) {
			continue
		}
		if len(lines) == 2*limit {
			lines = append(lines[:0], lines[limit:]...)
		}
		lines = append(lines, line)
	}
	return lines[max(len(lines)-limit, 0):], all.Err()
}

// Follow calls pass with the lines after a place, as they are written, until ctx is done or pass returns an error. A slow
// caller may miss files that were removed meanwhile; it continues with the oldest one that is left.
func (l *Log) Follow(ctx context.Context, f parley.LogFilter, at Place, pass func([]parley.LogLine) error) error {
	f.Limit = 1 << 30
	for {
		part, next, grown, err := l.after(at)
		if err != nil {
			return err
		}
		if part != nil {
			lines, err := newestLines(part, f, f.Limit)
			err = errors.Join(err, part.Close())
			if err == nil && len(lines) > 0 {
				err = pass(lines)
			}
			if err != nil {
				return err
			}
		}
		if at != next {
			at = next
			continue
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// fileSection is a piece of a file.
type fileSection struct {
	io.Reader
	io.Closer
}

// after returns the part of a file after a place, and the place to continue from. grown is closed when the log has new lines.
func (l *Log) after(at Place) (p io.ReadCloser, next Place, grown <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rotations-at.rotation >= l.Files { // its file was removed
		at = Place{l.rotations - l.Files + 1, 0}
	}
	ago := l.rotations - at.rotation
	file, err := os.Open(l.path(ago))
	if errors.Is(err, os.ErrNotExist) { // somebody removed it
		return nil, Place{min(at.rotation+1, l.rotations), 0}, l.grown, nil
	}
	if err != nil {
		return nil, at, l.grown, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, at, l.grown, errors.Join(err, file.Close())
	}
	length := info.Size()
	if ago == 0 {
		length = min(length, l.size) // without a line that is being written
	}
	if at.offset > length { // somebody truncated it
		at.offset = 0
	}
	next = Place{at.rotation, length}
	if ago > 0 && length == at.offset {
		next = Place{at.rotation + 1, 0}
	}
	return fileSection{io.NewSectionReader(file, at.offset, length-at.offset), file}, next, l.grown, nil
}

// Package msglog writes the message log: a line of JSON for each step of each message, in files that are rotated by size.
//
// The log follows stored events. So it is complete after a restart, and writing it delays no message. A crash leaves at most
// a part of a line, which the next start cuts off. The next start also reads the last lines, so it writes none of them twice.
package msglog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/observe/steps"
)

// Options say where the log is, and how much of it is kept.
type Options struct {
	Dir   string
	Size  int64 // bytes of one file
	Files int   // how many files are kept, the current one included
}

// Log is a message log. It is safe for concurrent use.
type Log struct {
	Options

	mu        sync.Mutex
	file      *os.File
	size      int64
	rotations int           // number of rotations since Open; identifies a file
	grown     chan struct{} // closed when the log has new lines
	recent    *recentLines
}

// Open opens the log, or makes a new one. It cuts off a line that a crash left incomplete.
func Open(o Options) (*Log, error) {
	l := &Log{Options: o, grown: make(chan struct{}), recent: newRecentLines()}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	if err := l.repair(); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	return l, nil
}

// path returns the path of the file that was current so many rotations ago.
func (l *Log) path(ago int) string {
	if ago == 0 {
		return filepath.Join(l.Dir, "messages.jsonl")
	}
	return filepath.Join(l.Dir, fmt.Sprintf("messages.%d.jsonl", ago))
}

func (l *Log) open() (err error) {
	if l.file, err = os.OpenFile(l.path(0), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return err
	}
	l.size, err = l.file.Seek(0, io.SeekEnd)
	return err
}

// Close closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Sync(), l.file.Close())
}

// Consume writes the lines of steps. If it fails, for example because the disk is full, it leaves none of the lines in the log.
func (l *Log) Consume(_ context.Context, n steps.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines bytes.Buffer
	for _, step := range n.Steps {
		if !step.Significant() {
			continue
		}
		raw, err := json.Marshal(Line(step))
		if err != nil {
			return err
		}
		raw = append(raw, '\n')
		if !l.recent.has(raw, step.At) {
			lines.Write(raw)
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	if err := l.append(lines.Bytes()); err != nil {
		return err
	}
	close(l.grown)
	l.grown = make(chan struct{})
	return nil
}

// append writes whole lines. If the current file is full, it rotates first.
func (l *Log) append(lines []byte) error {
	if err := l.reopenIfReplaced(); err != nil {
		return err
	}
	if l.size > 0 && l.size+int64(len(lines)) > l.Size {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if _, err := l.file.Write(lines); err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(lines))
	return nil
}

// reopenIfReplaced opens a new file if somebody removed, moved or truncated the current one. Lines in a removed file would be
// lost.
func (l *Log) reopenIfReplaced() error {
	own, err := l.file.Stat()
	if err != nil {
		return err
	}
	current, err := os.Stat(l.path(0))
	if err == nil && os.SameFile(own, current) && own.Size() == l.size {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	old := l.file
	if err := l.open(); err != nil {
		l.file = old
		return err
	}
	return old.Close()
}

// rotate starts a new file and removes the oldest one.
func (l *Log) rotate() error {
	if err := os.Remove(l.path(max(l.Files-1, 0))); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for ago := l.Files - 2; ago >= 0; ago-- {
		if err := os.Rename(l.path(ago), l.path(ago+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	old := l.file
	if err := l.open(); err != nil {
		l.file = old
		return err
	}
	l.rotations++
	return errors.Join(old.Sync(), old.Close())
}

// Line returns the log line of a step.
func Line(s steps.Step) parley.LogLine {
	to := s.Recipient
	if to == "" {
		to = s.Message.To
	}
	if to == "" {
		to = s.Message.Conversation
	}
	level := "info"
	switch {
	case s.Status() == steps.Failed:
		level = "error"
	case s.Requeued:
		level = "warn"
	}
	return parley.LogLine{
		Timestamp: s.At.UTC(), Level: level, MsgID: s.Message.ID, TraceID: s.Message.TraceID, From: s.Message.From, To: to,
		Type: s.Message.Type, LatencyMS: s.Latency().Milliseconds(), Status: s.Status(),
	}
}

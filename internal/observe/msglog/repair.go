package msglog

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

const (
	// lastBytes is how much of the end of the log the start reads. It is more than the hub repeats after a crash.
	lastBytes = 8 << 20
	// clockSkew is the largest difference between the clocks of two processes of a hub.
	clockSkew = time.Minute
)

// recentLines are the last lines that an earlier process wrote. If that process was killed, the hub repeats some of their
// events.
type recentLines struct {
	seed  maphash.Seed
	lines map[uint64]bool
	until time.Time // no event of the lines is later
}

func newRecentLines() *recentLines {
	return &recentLines{seed: maphash.MakeSeed(), lines: map[uint64]bool{}}
}

// add adds lines. The last line is the newest.
func (r *recentLines) add(lines []byte) {
	var last []byte
	for line := range bytes.Lines(lines) {
		r.lines[maphash.Bytes(r.seed, line)], last = true, line
	}
	var newest parley.LogLine
	if json.Unmarshal(last, &newest) == nil && newest.Timestamp.Add(clockSkew).After(r.until) {
		r.until = newest.Timestamp.Add(clockSkew)
	}
}

// has reports whether a line was written before. It forgets all lines at the first event that is newer than all of them.
func (r *recentLines) has(line []byte, at time.Time) bool {
	if len(r.lines) > 0 && at.After(r.until) {
		clear(r.lines)
	}
	return r.lines[maphash.Bytes(r.seed, line)]
}

// repair cuts off an incomplete last line, and adds the lines before it to recent, from older files too.
func (l *Log) repair() error {
	tail, err := readTail(l.file, l.size, lastBytes)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(tail, '\n') + 1
	l.size -= int64(len(tail) - whole)
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	l.recent.add(tail[:whole])
	for ago, left := 1, int64(lastBytes-whole); ago < l.Files && left > 0; ago++ {
		tail, err := l.readOlderTail(ago, left)
		if err != nil {
			return err
		}
		l.recent.add(tail)
		left -= int64(len(tail))
	}
	return nil
}

// readOlderTail returns at most limit bytes from the end of the file that was current so many rotations ago. It returns nil if
// there is no such file.
func (l *Log) readOlderTail(ago int, limit int64) ([]byte, error) {
	file, err := os.Open(l.path(ago))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return readTail(file, info.Size(), limit)
}

// readTail returns at most limit bytes from the end of a file.
func readTail(file *os.File, size, limit int64) ([]byte, error) {
	from := max(size-limit, 0)
	tail := make([]byte, size-from)
	_, err := file.ReadAt(tail, from)
	return tail, err
}

package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// exportWriter passes on the lines of an export. It keeps the last line, and the numbers of the messages that the hub
// could not export because they are damaged.
type exportWriter struct {
	w       io.Writer
	line    []byte // the last line as written so far, or the beginning of a long line
	ended   bool   // the last line has its line end
	damaged []string
	others  bool // some damaged entries are not messages
}

// maxLineKept is how much of a line is kept, in bytes. The last line of an export and lines about damage are shorter.
const maxLineKept = 4 << 10

func (l *exportWriter) Write(p []byte) (int, error) {
	for piece := range bytes.Lines(p) {
		if l.ended {
			l.line, l.ended = l.line[:0], false
		}
		l.line = append(l.line, piece[:min(len(piece), maxLineKept-len(l.line))]...)
		if piece[len(piece)-1] == '\n' {
			l.ended = true
			l.noteDamage()
		}
	}
	return l.w.Write(p)
}

// noteDamage notes the damaged entry that a line names, a message by its number. The line is JSON, or Markdown, in
// which the export quotes everything that participants wrote.
func (l *exportWriter) noteDamage() {
	if number, about := strings.CutPrefix(string(l.line), parley.DamagedLine); about {
		number, _, _ = strings.Cut(strings.TrimSpace(number), " ")
		l.damaged = append(l.damaged, number)
		return
	}
	var line struct {
		Seq     int64           `json:"seq"`
		Damage  json.RawMessage `json:"damage"`
		Damaged *parley.Damage  `json:"damaged"`
	}
	switch {
	case !bytes.Contains(l.line, []byte(`"damage`)) || json.Unmarshal(l.line, &line) != nil:
	case line.Damaged != nil && line.Damaged.Seq == 0:
		l.damaged, l.others = append(l.damaged, line.Damaged.What+" "+line.Damaged.ID), true
	case line.Damaged != nil:
		l.damaged = append(l.damaged, strconv.FormatInt(line.Damaged.Seq, 10))
	case line.Damage != nil:
		l.damaged = append(l.damaged, strconv.FormatInt(line.Seq, 10))
	}
}

// maxDamageNamed is how many damaged messages an error names.
const maxDamageNamed = 20

// damageError returns an error that lists the damaged entries: messages by their numbers, others by their ids. It
// returns nil if there are none.
func (l *exportWriter) damageError() error {
	n := len(l.damaged)
	if n == 0 {
		return nil
	}
	what := formatQuantity(int64(n), "message is", "messages are")
	if l.others {
		what = formatQuantity(int64(n), "entry is", "entries are")
	}
	numbers := slices.Clone(l.damaged[:min(n, maxDamageNamed)])
	if n > maxDamageNamed {
		numbers = append(numbers, "and "+strconv.Itoa(n-maxDamageNamed)+" more")
	}
	return parley.Errorf(parley.Internal, "%s damaged and could not be exported: %s", what,
		strings.Join(numbers, ", ")).Suggest("the export has all others; run `parley doctor --deep`, and restore a backup to recover the damaged ones")
}

// readEnd parses the last line of an export of the whole hub. An export without it is incomplete.
func (l *exportWriter) readEnd() (exportEnd, error) {
	var line struct {
		End *exportEnd `json:"end"`
	}
	if json.Unmarshal(l.line, &line) != nil || line.End == nil {
		return exportEnd{}, parley.Errorf(parley.DependencyFailed, "the export ended too early").Suggest("repeat the export")
	}
	return *line.End, nil
}

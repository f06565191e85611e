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

func (w *exportWriter) Write(p []byte) (int, error) {
	for piece := range bytes.Lines(p) {
		if w.ended {
			w.line, w.ended = w.line[:0], false
		}
		w.line = append(w.line, piece[:min(len(piece), maxLineKept-len(w.line))]...)
		if piece[len(piece)-1] == '\n' {
			w.ended = true
			w.noteDamage()
		}
	}
	return w.w.Write(p)
}

// noteDamage notes the damaged entry that a line names, a message by its number. The line is JSON, or Markdown, in
// which the export quotes everything that participants wrote.
func (w *exportWriter) noteDamage() {
	if number, about := strings.CutPrefix(string(w.line), parley.DamagedLine); about {
		number, _, _ = strings.Cut(strings.TrimSpace(number), " ")
		w.damaged = append(w.damaged, number)
		return
	}
	var line struct {
		Seq     int64           `json:"seq"`
		Damage  json.RawMessage `json:"damage"`
		Damaged *parley.Damage  `json:"damaged"`
	}
	switch {
	case !bytes.Contains(w.line, []byte(`"damage`)) || json.Unmarshal(w.line, &line) != nil:
	case line.Damaged != nil && line.Damaged.Seq == 0:
		w.damaged, w.others = append(w.damaged, line.Damaged.What+" "+line.Damaged.ID), true
	case line.Damaged != nil:
		w.damaged = append(w.damaged, strconv.FormatInt(line.Damaged.Seq, 10))
	case line.Damage != nil:
		w.damaged = append(w.damaged, strconv.FormatInt(line.Seq, 10))
	}
}

// maxDamageNamed is how many damaged messages an error names.
const maxDamageNamed = 20

// damageError returns an error that lists the damaged entries: messages by their numbers, others by their ids. It
// returns nil if there are none.
func (w *exportWriter) damageError() error {
	n := len(w.damaged)
	if n == 0 {
		return nil
	}
	subject := formatQuantity(int64(n), "message is", "messages are")
	if w.others {
		subject = formatQuantity(int64(n), "entry is", "entries are")
	}
	numbers := slices.Clone(w.damaged[:min(n, maxDamageNamed)])
	if n > maxDamageNamed {
		numbers = append(numbers, "and "+strconv.Itoa(n-maxDamageNamed)+" more")
	}
	return parley.Errorf(parley.Internal, "%s damaged and could not be exported: %s", subject,
		strings.Join(numbers, ", ")).Suggest("the export has all other entries; run `parley doctor --deep`, and restore a backup to recover the damaged ones")
}

// readEnd parses the last line of an export of the whole hub. An export without it is incomplete.
func (w *exportWriter) readEnd() (exportEnd, error) {
	var line struct {
		End *exportEnd `json:"end"`
	}
	if json.Unmarshal(w.line, &line) != nil || line.End == nil {
		return exportEnd{}, parley.Errorf(parley.DependencyFailed, "the export ended too early").Suggest("repeat the export")
	}
	return *line.End, nil
}

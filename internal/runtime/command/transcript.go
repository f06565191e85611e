package command

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// transcript is what has been understood of a program's output.
type transcript struct {
	text     []byte // of the answer so far, which may come in many pieces
	session  string
	usage    parley.Usage // of the run, where it is told
	total    parley.Usage // of its session so far, where that is told
	done     bool         // the event that ends the stream has come
	failure  string       // what the program says went wrong
	status   int          // of the model API, where it is told
	retrying string       // what it is trying to get over
}

// lineParser reads one line of stdout, and returns what was said in it to those who watch. ok says that it was a
// line of the format, not noise.
type lineParser func(t *transcript, line []byte) (said string, ok bool)

var parsers = map[Format]lineParser{
	FormatText:     parseText,
	FormatClaude:   events(claudeEvent),
	FormatCodex:    events(codexEvent),
	FormatGemini:   events(geminiEvent),
	FormatOpenCode: events(openCodeEvent),
	FormatGoose:    events(gooseEvent),
}

// parseText takes everything for the answer. That it was all of it, only the exit code tells.
func parseText(t *transcript, line []byte) (string, bool) {
	said := string(line) + "\n"
	t.text = append(t.text, said...)
	return said, true
}

// events makes a parser of what understands one event. Lines that are no objects are noise: warnings of a
// program's own runtime, progress, questions.
func events[E any](understand func(t *transcript, event E) (said string)) lineParser {
	return func(t *transcript, line []byte) (string, bool) {
		var event E
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &event) != nil {
			return "", false
		}
		return understand(t, event), true
	}
}

// contentPart is a piece of content, as most formats have it.
type contentPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func joinTexts(parts []contentPart) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// fail notes what went wrong. An error without words is one all the same.
func (t *transcript) fail(status int, words ...string) {
	t.status = status
	for _, said := range words {
		if t.failure == "" {
			t.failure = said
		}
	}
	if t.failure == "" {
		t.failure = "it reports an error without saying which"
	}
}

func (t *transcript) noteRetry(status int, words string) {
	t.retrying = strings.TrimSpace(words)
	if status != 0 {
		t.retrying = strings.TrimSpace(fmt.Sprintf("status %d %s", status, words))
	}
}

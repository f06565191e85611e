package command

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// transcript is the parsed output of a program.
type transcript struct {
	text     []byte // of the answer so far, which may come in many pieces
	session  string
	usage    parley.Usage // of the run, if the program reports it
	total    parley.Usage // of the session so far, if the program reports it
	done     bool         // the event that ends the stream has come
	failure  string       // the error text of the program
	status   int          // of the model API, if the program reports it
	retrying string       // the last error after which the program retries
}

// lineParser parses one line of stdout, and returns the text for watchers. ok is false if the line is not in the format.
type lineParser func(t *transcript, line []byte) (text string, ok bool)

var parsers = map[Format]lineParser{
	FormatText:     parseText,
	FormatClaude:   events(claudeEvent),
	FormatCodex:    events(codexEvent),
	FormatGemini:   events(geminiEvent),
	FormatOpenCode: events(openCodeEvent),
	FormatGoose:    events(gooseEvent),
}

// parseText adds every line to the answer. Only the exit code shows whether the answer is complete.
func parseText(t *transcript, line []byte) (string, bool) {
	text := string(line) + "\n"
	t.text = append(t.text, text...)
	return text, true
}

// events makes a parser from a function for one event. Lines that are not JSON objects are noise, such as warnings, progress
// and questions.
func events[E any](add func(t *transcript, event E) (text string)) lineParser {
	return func(t *transcript, line []byte) (string, bool) {
		var event E
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &event) != nil {
			return "", false
		}
		return add(t, event), true
	}
}

// contentPart is a part of a message, in the form that most formats use.
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

// fail notes an error with the first text that is not empty, or with a default text.
func (t *transcript) fail(status int, texts ...string) {
	t.status = status
	for _, text := range texts {
		if t.failure == "" {
			t.failure = text
		}
	}
	if t.failure == "" {
		t.failure = "the error has no text"
	}
}

// noteRetry notes an error after which the program retries.
func (t *transcript) noteRetry(status int, text string) {
	t.retrying = strings.TrimSpace(text)
	if status != 0 {
		t.retrying = strings.TrimSpace(fmt.Sprintf("status %d %s", status, text))
	}
}

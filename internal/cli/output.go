package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
	"github.com/parley-hub/parley/internal/quote"
)

// format is the output format.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatLines format = "jsonl"
)

// String, Set and Type implement pflag.Value.
func (f *format) String() string { return string(*f) }

// Set accepts one of the formats.
func (f *format) Set(s string) error {
	switch format(s) {
	case formatTable, formatJSON, formatLines:
		*f = format(s)
		return nil
	default:
		return errors.New("use table, json or jsonl")
	}
}

// Type returns the placeholder that help shows.
func (f *format) Type() string { return "format" }

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// colours reports whether standard output may have colours.
func (a *app) colours() bool {
	return isTerminal(a.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// printStderr prints a line for the user on standard error: something that is not data.
func (a *app) printStderr(format string, args ...any) {
	_, _ = fmt.Fprintln(a.err, oneLine(fmt.Sprintf(format, args...)))
}

// printJSON prints a value as JSON, indented unless the format is JSON lines.
func (a *app) printJSON(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if a.output == formatJSON {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := a.out.Write(plain.JSON(text.Bytes()))
	return err
}

// printValue prints a value as JSON, or calls print for a table.
func (a *app) printValue(value any, print func()) error {
	if a.output != formatTable {
		return a.printJSON(value)
	}
	print()
	return nil
}

// printDone prints what was done: words in a table, the value as JSON.
func (a *app) printDone(value any, words ...string) error {
	return a.printValue(value, func() { a.printWords(words...) })
}

// printAction prints a past action and its subject, if the hub returned nothing else.
func (a *app) printAction(word, subject string) error {
	return a.printDone(map[string]string{word: subject}, word, subject)
}

// printWords prints words on one line, two spaces apart.
func (a *app) printWords(words ...string) {
	clean := make([]string, len(words))
	for i, word := range words {
		clean[i] = oneLine(word)
	}
	_, _ = fmt.Fprintln(a.out, strings.Join(clean, "  "))
}

// printText prints a text of others. On a terminal, it replaces control characters.
func (a *app) printText(text string) {
	if isTerminal(a.out) {
		text = plain.Text(text)
	}
	_, _ = io.WriteString(a.out, strings.TrimRight(text, "\n")+"\n")
}

// printWording prints a text of the hub. It marks the words of others in it.
func (a *app) printWording(w parley.Wording) { a.printText(quote.Shown(w)) }

// formatTime formats a time: local time on a terminal, UTC for programs.
func (a *app) formatTime(t time.Time) string {
	if isTerminal(a.out) {
		return t.Local().Format(time.DateTime)
	}
	return t.UTC().Format(time.RFC3339)
}

// formatPastTime formats a time in the past. On a terminal, it omits today's date.
func (a *app) formatPastTime(t time.Time) string {
	if isTerminal(a.out) && t.Local().Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return t.Local().Format(time.TimeOnly)
	}
	return a.formatTime(t)
}

// formatFutureTime formats a time in the future. On a terminal, it omits the date if the time is less than 20 hours
// ahead.
func (a *app) formatFutureTime(t time.Time) string {
	if isTerminal(a.out) && time.Until(t) < 20*time.Hour {
		return t.Local().Format("15:04")
	}
	return a.formatTime(t)
}

// formatLastSeen formats when a participant was last seen, or returns nothing if that is unknown.
func (a *app) formatLastSeen(t *time.Time) string {
	if t == nil {
		return ""
	}
	return a.formatPastTime(*t)
}

// formatOptionalTime formats a time, or returns nothing for nil.
func (a *app) formatOptionalTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return a.formatTime(*t)
}

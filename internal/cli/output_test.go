package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
)

type fruit struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

func TestLists(t *testing.T) {
	fruits := []fruit{{"りんご", "red\nand <round>"}, {"fig", ""}}
	for form, want := range map[format]string{
		formatTable: "NAME    NOTE\nりんご  red and <round>\nfig\n",
		formatLines: `{"name":"りんご","note":"red\nand <round>"}` + "\n" + `{"name":"fig"}` + "\n",
		formatJSON: "[\n  {\n    \"name\": \"りんご\",\n    \"note\": \"red\\nand <round>\"\n  },\n" +
			"  {\n    \"name\": \"fig\"\n  }\n]\n",
	} {
		var out strings.Builder
		a := &app{out: &out, output: form}
		err := printList(a, fruits,
			column[fruit]{"name", func(f fruit) string { return f.Name }},
			column[fruit]{"note", func(f fruit) string { return f.Note }})
		if err != nil || out.String() != want {
			t.Errorf("as %s:\n%s(%v)\nwant\n%s", form, out.String(), err, want)
		}
	}
}

func TestAnEmptyListIsAnEmptyArray(t *testing.T) {
	for form, want := range map[format]string{formatTable: "", formatLines: "", formatJSON: "[]\n"} {
		var out, said strings.Builder
		err := printList(&app{out: &out, err: &said, output: form}, []fruit(nil), column[fruit]{"name", nil})
		if err != nil || out.String() != want || (said.String() == "none\n") != (form == formatTable) {
			t.Errorf("as %s: %q, %q, %v", form, out.String(), said.String(), err)
		}
	}
}

// terminal is an app on a terminal, and the other end of that terminal.
func terminal(t *testing.T) (*app, *os.File) {
	t.Helper()
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal("no terminal can be had here:", err)
	}
	t.Cleanup(func() { _, _ = tty.Close(), person.Close() })
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 20}); err != nil {
		t.Fatal(err)
	}
	return &app{in: tty, out: tty, err: tty, output: formatTable}, person
}

// readUntil reads what a terminal shows until a text is there.
func readUntil(t *testing.T, person *os.File, text string) string {
	t.Helper()
	var shown strings.Builder
	for buffer := make([]byte, 256); !strings.Contains(shown.String(), text); {
		n, err := person.Read(buffer)
		if err != nil {
			t.Fatalf("after %q: %v", shown.String(), err)
		}
		shown.Write(buffer[:n])
	}
	return shown.String()
}

func TestATableFitsTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for colour, head := range map[string]string{"": "\x1b[1mNAME\x1b[0m", "1": "NAME"} {
		t.Setenv("NO_COLOR", colour)
		a, person := terminal(t)
		if err := printList(a, []fruit{{Name: strings.Repeat("x", 50)}}, column[fruit]{"name", func(f fruit) string { return f.Name }}); err != nil {
			t.Fatal(err)
		}
		want := head + "\r\n" + strings.Repeat("x", 19) + "…\r\n"
		if got := readUntil(t, person, "…\r\n"); got != want {
			t.Errorf("NO_COLOR=%q shows %q, want %q", colour, got, want)
		}
	}
}

func TestATerminalShowsNoEmptyColumns(t *testing.T) {
	name := column[fruit]{"name", func(f fruit) string { return f.Name }}
	empty := column[fruit]{"colour", func(fruit) string { return "" }}
	note := column[fruit]{"note", func(f fruit) string { return f.Note }}
	fruits := []fruit{{"fig", "it has\nmany seeds inside it"}, {"pear", ""}}
	t.Setenv("NO_COLOR", "1")
	a, person := terminal(t)
	if err := printListWith(a, fruits, note, empty, name); err != nil {
		t.Fatal(err)
	}
	want := "NAME\r\nfig\r\n  it has many seeds inside it\r\npear\r\n"
	if got := readUntil(t, person, "pear\r\n"); got != want {
		t.Errorf("the terminal shows %q, want %q", got, want)
	}
	var out strings.Builder
	err := printListWith(&app{out: &out, output: formatTable}, fruits, note, empty, name)
	if want := "COLOUR  NAME  NOTE\n        fig   it has many seeds inside it\n        pear\n"; err != nil || out.String() != want {
		t.Errorf("the pipe got %q (%v), want %q", out.String(), err, want)
	}
}

func TestTodayNeedsNoDay(t *testing.T) {
	a, _ := terminal(t)
	now := time.Now()
	for at, want := range map[time.Time]string{
		now: now.Format(time.TimeOnly), now.AddDate(0, 0, -1): now.AddDate(0, 0, -1).Format(time.DateTime),
	} {
		if got := a.formatPastTime(at); got != want && time.Now().Day() == now.Day() {
			t.Errorf("%v is %s, want %s", at, got, want)
		}
	}
	if got := (&app{out: io.Discard}).formatPastTime(now); got != now.UTC().Format(time.RFC3339) {
		t.Errorf("for a program it is %s", got)
	}
}

func TestConfirmAsksOnATerminal(t *testing.T) {
	for answer, want := range map[string]error{"y": nil, "YES": nil, "n": silentError{exitError}, "": silentError{exitError}} {
		a, person := terminal(t)
		done := make(chan error, 1)
		cmd := &cobra.Command{Use: "x"}
		cmd.SetContext(t.Context())
		go func() { done <- a.confirm(cmd, false, "Delete it?") }()
		readUntil(t, person, "Delete it? [y/N] ")
		if _, err := io.WriteString(person, answer+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, want) {
			t.Errorf("%q gives %v, want %v", answer, err, want)
		}
	}
}

func TestConfirmAsksNobodyWithoutATerminal(t *testing.T) {
	a := &app{in: strings.NewReader("y\n"), err: io.Discard}
	if _, ok := errors.AsType[usageError](a.confirm(&cobra.Command{Use: "x"}, false, "Delete it?")); !ok {
		t.Error("a pipe was asked")
	}
	if err := a.confirm(&cobra.Command{Use: "x"}, true, "Delete it?"); err != nil {
		t.Error(err)
	}
}

func TestTextIsHarmlessOnATerminalAndExactElsewhere(t *testing.T) {
	const evil = "\x1b]0;title\atext"
	a, person := terminal(t)
	a.printText(evil)
	if got := readUntil(t, person, "text\r\n"); strings.ContainsAny(got, "\x1b\a") {
		t.Errorf("the terminal got %q", got)
	}
	var out strings.Builder
	(&app{out: &out}).printText(evil)
	if out.String() != evil+"\n" {
		t.Errorf("the pipe got %q", out.String())
	}
}

// TestProgress waits for the second after which something is shown.
func TestProgress(t *testing.T) {
	a, person := terminal(t)
	count := &counter{w: io.Discard}
	_, _ = count.Write(make([]byte, 2048))
	stop := a.showProgress(t.Context(), "exporting", count)
	readUntil(t, person, "exporting: 2.0 KiB, 1s")
	stop()
	readUntil(t, person, "\r\x1b[K")
}

func TestAFileIsThereWhenAllOfItIs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	a := &app{err: io.Discard}
	broken := errors.New("broke off")
	err := a.writeTo(t.Context(), []string{name}, false, "writing", func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	})
	if left, _ := os.ReadDir(filepath.Dir(name)); !errors.Is(err, broken) || len(left) != 0 {
		t.Errorf("the error is %v, and %v is left", err, left)
	}
	err = a.writeTo(t.Context(), []string{name}, false, "writing", func(w io.Writer) error {
		_, err := io.WriteString(w, "whole")
		return err
	})
	if got, _ := os.ReadFile(name); err != nil || string(got) != "whole" {
		t.Errorf("the file holds %q (%v)", got, err)
	}
}

func TestNoFileIsReplacedUnasked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{err: io.Discard}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for _, test := range []struct {
		target string
		force  bool
		want   string
	}{{name, false, "old"}, {name, true, "new"}, {filepath.Dir(name), true, "new"}, {os.DevNull, true, "new"}} {
		err := a.writeTo(t.Context(), []string{test.target}, test.force, "writing", write)
		done := test.target == name && test.force
		if got, _ := os.ReadFile(name); string(got) != test.want || (err == nil) != done {
			t.Errorf("writing %s (force %v) gives %v and leaves %q", test.target, test.force, err, got)
		}
	}
}

func TestANameThatIsTakenGetsANumber(t *testing.T) {
	name := filepath.Join(t.TempDir(), "backup")
	for _, want := range []string{name, name + "-2", name + "-3"} {
		got := unusedName(name)
		if err := os.Mkdir(got, 0o700); err != nil || got != want {
			t.Errorf("the name is %s (%v), want %s", got, err, want)
		}
	}
}

func TestTimesAreUTCForPrograms(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	if got := (&app{out: io.Discard}).formatTime(at); got != "2030-01-02T02:04:05Z" {
		t.Errorf("it is %s", got)
	}
	a, _ := terminal(t)
	if got := a.formatTime(at); got != at.Local().Format(time.DateTime) {
		t.Errorf("on a terminal it is %s", got)
	}
}

func TestAnInterruptIsNoError(t *testing.T) {
	why := errors.New("a signal came")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, err := range []error{context.Canceled, why} {
		var said strings.Builder
		if code := (&app{err: &said}).fail(ctx, err); code != exitInterrupted || said.String() != "" {
			t.Errorf("%v gives exit code %d and %q", err, code, said.String())
		}
	}
}

// TestJSONDoesNothingToATerminal: an encoder leaves C1 control characters as they are, and a terminal obeys.
func TestJSONDoesNothingToATerminal(t *testing.T) {
	for _, form := range []format{formatJSON, formatLines} {
		var out strings.Builder
		err := (&app{out: &out, output: form}).printJSON(fruit{Name: "\u009b2J\x7f\u202e\x1b[2J"})
		if err != nil || !strings.Contains(out.String(), `"\u009b2J\u007f\u202e\u001b[2J"`) {
			t.Errorf("as %s: %q, %v", form, out.String(), err)
		}
	}
}

// TestExportsDoNothingToATerminal, in whichever pieces they come.
func TestExportsDoNothingToATerminal(t *testing.T) {
	a, person := terminal(t)
	err := a.writeTo(t.Context(), nil, false, "exporting", func(w io.Writer) error {
		for _, piece := range []string{"a\x1b[2J\nb\xc2", "\x9b2J é", "\xe2\x80", "\xaec\nend"} {
			if _, err := io.WriteString(w, piece); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := readUntil(t, person, "end"), "a␛[2J\r\nb�2J é�c\r\nend"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
}

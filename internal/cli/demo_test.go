package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/demo"
	"github.com/parley-hub/parley/internal/home"
)

// newTestShow returns a show that knows its only conversation.
func newTestShow(a *app) *demoShow {
	return &demoShow{
		watcher:      watcher{app: a, titles: map[string]string{"c": "#daily-standup"}},
		names:        map[string]string{"databot": "DataBot"},
		conversation: "c", awaitedLines: []demo.Line{{From: "writerbot", Text: "half"}, {From: "databot"}},
	}
}

func TestTheDemoIsColouredOnATerminalAlone(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	m := parley.Message{
		From: "databot", Conversation: "c", CreatedAt: time.Date(2026, 2, 8, 9, 1, 0, 0, time.Local),
		Content: parley.Content{Text: "Idle\x1b[2J at\nthe moment."}, Payload: []byte(`{"not":"shown"}`),
	}
	a, person := terminal(t)
	newTestShow(a).print(t.Context(), m)
	if got := readUntil(t, person, "moment.\r\n\r\n"); !strings.HasPrefix(got, "#daily-standup  \x1b[1;36mDataBot\x1b[0m  09:01:00\r\n  Idle") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("the terminal shows %q", got)
	}
	var out strings.Builder
	newTestShow(&app{out: &out}).print(t.Context(), m)
	if got := out.String(); !strings.HasPrefix(got, "#daily-standup  DataBot  09:01:00\n  Idle") || strings.ContainsAny(got, "\x1b{") {
		t.Errorf("a pipe gets %q", got)
	}
}

func TestAnActEndsWithTheLastLine(t *testing.T) {
	s := newTestShow(&app{})
	for i, said := range []struct {
		from, where, text string
		ends              bool
	}{
		{"user", "c", "Begin.", false},
		{"databot", "elsewhere", "Idle.", false},
		{"databot", "c", "Idle.", false},
		{"databot", "c", "Idle.", false},
		{"writerbot", "c", "Nothing.", false},
		{"writerbot", "c", "By half.", true},
		{"writerbot", "c", "By half.", false},
	} {
		m := parley.Message{From: said.from, Conversation: said.where, Content: parley.Content{Text: said.text}}
		if ends := s.endsAct(m); ends != said.ends {
			t.Errorf("message %d, of %s, ends the act: %v", i, said.from, ends)
		}
	}
}

func TestWordsOfAShell(t *testing.T) {
	for text, want := range map[string]string{
		"/tmp/parley-demo-1-2": "/tmp/parley-demo-1-2", "": "''", "my home": "'my home'", "it's": `'it'\''s'`, "$HOME": "'$HOME'",
	} {
		if got := shellWord(text); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

// A link among the stale homes of demos must not have them remove what it leads to: everybody can put one there.
func TestStaleDemosAreRemovedAndNothingElse(t *testing.T) {
	places := t.TempDir()
	t.Setenv("TMPDIR", places)
	const nobody = 1 << 30 // no process has this number
	hub := func(path string) home.Dir {
		dir := home.Dir(path)
		if err := dir.Make(); err != nil {
			t.Fatal(err)
		}
		lock, err := dir.Acquire()
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	name := func(rest string) string {
		return filepath.Join(places, fmt.Sprintf("%s%d-%s", demoPrefix, nobody, rest))
	}
	own := hub(filepath.Join(t.TempDir(), "home"))
	stale := hub(name("stale"))
	if err := os.Symlink(string(own), name("link")); err != nil {
		t.Fatal(err)
	}
	inside := name("inside") // a home that uses another's lock
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(string(own), "run"), filepath.Join(inside, "run")); err != nil {
		t.Fatal(err)
	}
	alive := hub(filepath.Join(places, fmt.Sprintf("%s%d-x", demoPrefix, os.Getppid())))
	removeStaleDemos()
	for path, left := range map[string]bool{
		string(stale): false, string(own): true, filepath.Join(string(own), "run", "hub.lock"): true, inside: true, string(alive): true,
	} {
		if _, err := os.Lstat(path); (err == nil) != left {
			t.Errorf("%s is there: %v, want %v", path, err == nil, left)
		}
	}
}

// TestDemoCommandsWorkInAnotherTerminal: what the demo says to type works in a terminal that is elsewhere.
func TestDemoCommandsWorkInAnotherTerminal(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for called, want := range map[string][2]string{
		"parley":               {"parley", ""},
		"bin/parley":           {"parley", "  export PATH=" + shellWord(filepath.Join(here, "bin")) + ":$PATH\n"},
		"./parley":             {"parley", "  export PATH=" + shellWord(here) + ":$PATH\n"},
		"/opt/my tools/parley": {"parley", "  export PATH='/opt/my tools':$PATH\n"},
	} {
		if program, export := programCall(called); program != want[0] || export != want[1] {
			t.Errorf("%s is typed as %q after %q, want %q", called, program, export, want)
		}
	}
}

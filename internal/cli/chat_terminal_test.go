package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/screentest"
)

// testHub is a hub with a home of its own. The test program acts as parley.
type testHub struct {
	t    *testing.T
	home string
}

func newTestHub(t *testing.T) testHub {
	t.Helper()
	h := testHub{t: t, home: filepath.Join(t.TempDir(), "home")}
	h.up()
	t.Cleanup(func() { _ = h.command("down").Run() })
	return h
}

func (h testHub) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"--home", h.home}, args...)...)
	cmd.Env = append(cmd.Environ(), "ACT_AS_PARLEY=1", "PARLEY_RUNS_GRACE=10ms", "GORACE=atexit_sleep_ms=0", "TERM=xterm-256color", "PARLEY_URL=", "PARLEY_TOKEN=", "NO_COLOR=")
	return cmd
}

// run runs a command and returns what it prints.
func (h testHub) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("parley %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (h testHub) up() { h.t.Helper(); h.run("up", "--detach", "--addr", "127.0.0.1:0") }

// stored are the texts in a direct conversation of the owner.
func (h testHub) stored() (texts []string) {
	h.t.Helper()
	options, err := client.Find(h.home)
	if err != nil {
		h.t.Fatal(err)
	}
	options.Token = ""
	c, err := client.New(options)
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	page, err := c.Conversations(h.t.Context(), client.ConversationsOptions{}, client.PageRequest{})
	if err != nil || len(page.Items) != 1 {
		h.t.Fatalf("%d conversations (%v), want 1", len(page.Items), err)
	}
	history, err := c.History(h.t.Context(), page.Items[0].ID, client.HistoryOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range history {
		texts = append(texts, m.Content.Text)
	}
	return texts
}

// TestChatOnATerminal chats with the real program from both sides, through a restart of the hub.
func TestChatOnATerminal(t *testing.T) {
	h := newTestHub(t)
	h.run("agent", "add", "arya")
	program := h.command("chat", "arya")
	user := screentest.Start(t, program, 80, 24)
	user.Await("arya", "/help")

	user.Type("hello @ar\t\r") // opens the conversation
	user.Await("hello @arya", "accepted")
	arya := screentest.Start(t, h.command("chat", "--as", "arya", "user"), 40, 15)
	arya.Await("hello @arya")
	user.Await("acked") // shown to an agent is fetched and acknowledged
	arya.Type("hi there\r")
	user.Await("  hi there")
	arya.Await("  hi there", "acked") // what a person was shown is settled

	h.run("down")
	user.Await("connection lost")
	user.Type("typed meanwhile\rhalf a th")
	user.Await("typed meanwhile", "sending", "› half a th")
	h.up()
	user.Await("connected again")
	arya.Await("typed meanwhile")
	user.Until("a message that is sent", func(screen string) bool {
		return strings.Count(screen, "typed meanwhile") == 1 && !strings.Contains(screen, "sending")
	})
	user.Type("ought\r")
	arya.Await("half a thought")
	user.Until("that all was acknowledged, after arya has spoken too", func(screen string) bool {
		return strings.Count(screen, "acked") == 3
	})

	user.Type("/help\r")
	user.Await("/topic [text]")
	user.Resize(40, 15)
	user.Until("a screen of 40 columns", func(screen string) bool {
		return strings.Contains(screen, "\n"+strings.Repeat("─", 40)+"\n") && !strings.Contains(screen, strings.Repeat("─", 41))
	})
	user.Resize(80, 24)
	user.Await(strings.Repeat("─", 80), "half a thought")
	if got, want := strings.Join(h.stored(), "|"), "hello @arya|hi there|typed meanwhile|half a thought"; got != want {
		t.Errorf("stored are %q, want %q", got, want)
	}
	user.Type("/quit\r")
	if err := program.Wait(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	arya.Type("\x03")
}

func TestChatInLines(t *testing.T) {
	h := newTestHub(t)
	h.run("agent", "add", "arya")
	cmd := h.command("chat", "arya")
	cmd.Stdin = strings.NewReader("one\ntwo\n")
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 2 || !strings.HasSuffix(lines[0], "Z user: one") || !strings.HasSuffix(lines[1], "Z user: two") {
		t.Errorf("printed %q (%v)", out, err)
	}
	if got := h.run("chat", "arya", "a text with spaces"); !strings.HasPrefix(got, "accepted  arya  ") {
		t.Errorf("printed %q", got)
	}
	if got, want := strings.Join(h.stored(), "|"), "one|two|a text with spaces"; got != want {
		t.Errorf("stored are %q, want %q", got, want)
	}
}

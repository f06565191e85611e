package script

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/pgtest"
)

// testHub is a hub that a test can kill and start again while commands wait for it.
type testHub struct {
	t    *testing.T
	env  []string
	home string
	hub  *exec.Cmd
}

// onEachDatabase runs a test with a hub of its own on each database. The hub has a runtime asker: a program that asks user through
// the socket.
func onEachDatabase(t *testing.T, test func(t *testing.T, c *testHub)) {
	for name, store := range map[string]func(t *testing.T) string{
		"sqlite": func(*testing.T) string { return "sqlite" }, "postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &testHub{t: t, home: filepath.Join(t.TempDir(), "hub")}
			c.env = append(os.Environ(), "PARLEY_HOME="+c.home, "PARLEY_ADDR=127.0.0.1:0", "PARLEY_STORE="+store(t), "PARLEY_URL=", "PARLEY_TOKEN=")
			config := "runtimes:\n  asker:\n    argv: [parley, ask, user, 'May I?']\n    output: text\n"
			if err := os.Mkdir(c.home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(c.home, "config.yaml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			c.up()
			t.Cleanup(c.kill)
			c.run("agent", "add", "bot")
			test(t, c)
		})
	}
}

func (c *testHub) command(args ...string) *exec.Cmd {
	cmd := exec.Command("parley", args...)
	cmd.Env = c.env
	return cmd
}

// up starts the hub and waits until it runs.
func (c *testHub) up() {
	c.t.Helper()
	c.hub = c.command("up")
	output, err := c.hub.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.hub.Start(); err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	for line := ""; !strings.Contains(line, "The hub is running"); {
		if line, err = lines.ReadString('\n'); err != nil {
			c.t.Fatalf("the hub did not start: %v", err)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
}

// kill ends the hub as kill -9 does.
func (c *testHub) kill() {
	_ = c.hub.Process.Kill()
	_ = c.hub.Wait()
}

// run runs a command and returns what it prints.
func (c *testHub) run(args ...string) string {
	c.t.Helper()
	out, err := c.command(args...).Output()
	if exitErr, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns this type
		c.t.Fatalf("parley %s: %v\n%s", strings.Join(args, " "), err, exitErr.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// waiter is a command that waits for an answer or a result.
type waiter struct {
	*exec.Cmd
	id     string // of the ask or task, which the command has printed
	stdout strings.Builder
	stderr *bufio.Reader
}

var printedID = regexp.MustCompile(`: (task-\d+|m\d+)$`)

// startWaiting starts a command that waits, and returns once the command has printed the id of its ask or task.
func (c *testHub) startWaiting(args ...string) *waiter {
	c.t.Helper()
	w := &waiter{Cmd: c.command(args...)}
	w.Stdout = &w.stdout
	pipe, err := w.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	w.stderr = bufio.NewReader(pipe)
	if err := w.Start(); err != nil {
		c.t.Fatal(err)
	}
	line, err := w.stderr.ReadString('\n')
	found := printedID.FindStringSubmatch(strings.TrimSpace(line))
	if err != nil || found == nil {
		c.t.Fatalf("it says %q first (%v), want an id", line, err)
	}
	w.id = found[1]
	return w
}

// expectOutput waits for the end of a command and compares its output.
func (c *testHub) expectOutput(w *waiter, want string) {
	c.t.Helper()
	rest, _ := io.ReadAll(w.stderr)
	if err := w.Wait(); err != nil || w.stdout.String() != want+"\n" {
		c.t.Errorf("it prints %q and ends with %v, want %q; it says\n%s", w.stdout.String(), err, want, rest)
	}
}

// expectNoHubMessages requires that the inbox of an agent has no message from the hub, such as a callback.
func (c *testHub) expectNoHubMessages(agent string) {
	c.t.Helper()
	var inbox struct {
		Messages []struct{ From, Content any }
	}
	raw := c.run("inbox", "--peek", "--as", agent, "-o", "json")
	if err := json.Unmarshal([]byte(raw), &inbox); err != nil {
		c.t.Fatalf("%v: %s", err, raw)
	}
	for _, m := range inbox.Messages {
		if m.From == "parley" {
			c.t.Errorf("%s is told besides: %v", agent, m.Content)
		}
	}
}

// TestAnAskOutlivesItsHub kills the hub in the middle of an ask. The process that asks must print the answer once the hub is back.
func TestAnAskOutlivesItsHub(t *testing.T) {
	onEachDatabase(t, func(_ *testing.T, c *testHub) {
		w := c.startWaiting("ask", "user", "May I?", "--as", "bot")
		c.kill()
		c.up()
		c.run("reply", w.id, "You may.")
		c.expectOutput(w, "Response from user: You may.")
		c.expectNoHubMessages("bot")
	})
}

// TestADelegationOutlivesItsHub kills the hub in the middle of a delegation. The process that waits must print the result.
func TestADelegationOutlivesItsHub(t *testing.T) {
	onEachDatabase(t, func(_ *testing.T, c *testHub) {
		w := c.startWaiting("delegate", "user", "Count", "--wait", "--as", "bot")
		c.kill()
		c.up()
		c.run("task", "complete", w.id, "Three.")
		c.expectOutput(w, "Response from user: Three.")
		c.expectNoHubMessages("bot")
	})
}

// TestAKilledCallerWaitsAgain kills a command that waits. Another command must get the answer or result, by the same key or by the
// id.
func TestAKilledCallerWaitsAgain(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, c *testHub) {
		ask := []string{"ask", "user", "May I?", "--as", "bot", "--key", "k"}
		for name, waitAgain := range map[string]func(id string) []string{
			"the same key": func(string) []string { return ask },
			"its id":       func(id string) []string { return []string{"wait", id, "--as", "bot"} },
		} {
			w := c.startWaiting(ask...)
			_ = w.Process.Kill()
			_ = w.Wait()
			c.run("reply", w.id, "You may.")
			if got := c.run(waitAgain(w.id)...); got != "Response from user: You may." {
				t.Errorf("%s: it prints %q", name, got)
			}
			c.expectNoHubMessages("bot")
			ask[len(ask)-1] += "2" // the next round makes another ask
		}
		w := c.startWaiting("delegate", "user", "Count", "--wait", "--as", "bot")
		_ = w.Process.Kill()
		_ = w.Wait()
		c.run("task", "complete", w.id, "Three.")
		if got := c.run("wait", w.id, "--as", "bot"); got != "Response from user: Three." {
			t.Errorf("the task: it prints %q", got)
		}
		c.expectNoHubMessages("bot")
	})
}

// TestARunsAskOutlivesItsHub kills the hub while a run asks through the socket. The next attempt of the run must continue the same
// ask, and the hub must post the answer once.
func TestARunsAskOutlivesItsHub(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, c *testHub) {
		c.run("agent", "add", "worker", "--runtime", "asker")
		began := regexp.MustCompile(`"last_event": (\d+)`).FindStringSubmatch(c.run("status", "-o", "json"))[1]
		c.run("send", "worker", "do it", "--dm")
		c.run("watch", "--after", began, "--kinds", "run.waiting", "--limit", "1")
		c.kill()
		c.up()
		c.run("watch", "--after", began, "--kinds", "run.waiting", "--limit", "2") // the next attempt waits again
		var inbox struct {
			Messages []struct{ ID, Conversation string }
		}
		if raw := c.run("inbox", "--peek", "-o", "json"); json.Unmarshal([]byte(raw), &inbox) != nil || len(inbox.Messages) != 1 {
			t.Fatalf("the user has %s, want one question", raw)
		}
		c.run("reply", inbox.Messages[0].ID, "You may.")
		c.run("watch", "--after", began, "--kinds", "run.succeeded", "--limit", "1")
		if output := c.run("wait", inbox.Messages[0].ID); output != "Response from user: You may." {
			t.Errorf("the ask came to %q", output)
		}
		c.expectNoHubMessages("worker")
		dm := c.run("conv", "export", inbox.Messages[0].Conversation)
		if strings.Count(dm, "Pattern: ask") != 1 || strings.Count(dm, "Response from user: You may.") != 1 {
			t.Errorf("what was asked and answered once is in the DM as\n%s", dm)
		}
	})
}

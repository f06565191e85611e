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

// calls is a hub that is killed while somebody waits.
type calls struct {
	t    *testing.T
	env  []string
	home string
	hub  *exec.Cmd
}

// onBoth runs a test with a hub of its own on each database. The hub may run the program asker, which asks user by the socket.
func onBoth(t *testing.T, test func(t *testing.T, c *calls)) {
	for name, store := range map[string]func(t *testing.T) string{
		"sqlite": func(*testing.T) string { return "sqlite" }, "postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &calls{t: t, home: filepath.Join(t.TempDir(), "hub")}
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

func (c *calls) command(args ...string) *exec.Cmd {
	cmd := exec.Command("parley", args...)
	cmd.Env = c.env
	return cmd
}

// up starts the hub and waits until it is there.
func (c *calls) up() {
	c.t.Helper()
	c.hub = c.command("up")
	said, err := c.hub.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.hub.Start(); err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewReader(said)
	for line := ""; !strings.Contains(line, "The hub is running"); {
		if line, err = lines.ReadString('\n'); err != nil {
			c.t.Fatalf("the hub did not start: %v", err)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
}

// kill ends the hub as kill -9 does.
func (c *calls) kill() {
	_ = c.hub.Process.Kill()
	_ = c.hub.Wait()
}

// run runs a command and returns what it prints.
func (c *calls) run(args ...string) string {
	c.t.Helper()
	out, err := c.command(args...).Output()
	if failed, ok := err.(*exec.ExitError); ok { //nolint:errorlint // it is what Output returns
		c.t.Fatalf("parley %s: %v\n%s", strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// waiter is a command that waits.
type waiter struct {
	*exec.Cmd
	id     string // that it has printed
	stdout strings.Builder
	stderr *bufio.Reader
}

var printedID = regexp.MustCompile(`: (task-\d+|m\d+)$`)

// waits starts a command that waits, and returns once it has printed under which id.
func (c *calls) waits(args ...string) *waiter {
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

// ends waits for the end of a command, which prints something.
func (c *calls) ends(w *waiter, want string) {
	c.t.Helper()
	rest, _ := io.ReadAll(w.stderr)
	if err := w.Wait(); err != nil || w.stdout.String() != want+"\n" {
		c.t.Errorf("it prints %q and ends with %v, want %q; it says\n%s", w.stdout.String(), err, want, rest)
	}
}

// left requires that nothing that the hub says waits for somebody.
func (c *calls) left(who string) {
	c.t.Helper()
	var inbox struct {
		Messages []struct{ From, Content any }
	}
	raw := c.run("inbox", "--peek", "--as", who, "-o", "json")
	if err := json.Unmarshal([]byte(raw), &inbox); err != nil {
		c.t.Fatalf("%v: %s", err, raw)
	}
	for _, m := range inbox.Messages {
		if m.From == "parley" {
			c.t.Errorf("%s is told besides: %v", who, m.Content)
		}
	}
}

// TestAnAskOutlivesItsHub: the hub is killed in the middle of an ask; the same process prints the answer once it is back.
func TestAnAskOutlivesItsHub(t *testing.T) {
	onBoth(t, func(_ *testing.T, c *calls) {
		w := c.waits("ask", "user", "May I?", "--as", "bot")
		c.kill()
		c.up()
		c.run("reply", w.id, "You may.")
		c.ends(w, "Response from user: You may.")
		c.left("bot")
	})
}

// TestADelegationOutlivesItsHub is the same for work whose result is waited for.
func TestADelegationOutlivesItsHub(t *testing.T) {
	onBoth(t, func(_ *testing.T, c *calls) {
		w := c.waits("delegate", "user", "Count", "--wait", "--as", "bot")
		c.kill()
		c.up()
		c.run("task", "complete", w.id, "Three.")
		c.ends(w, "Response from user: Three.")
		c.left("bot")
	})
}

// TestAKilledCallerWaitsAgain: the command is killed, and another one gets what it waited for: by the same key, or by its id.
func TestAKilledCallerWaitsAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, c *calls) {
		ask := []string{"ask", "user", "May I?", "--as", "bot", "--key", "k"}
		for name, again := range map[string]func(id string) []string{
			"the same key": func(string) []string { return ask },
			"its id":       func(id string) []string { return []string{"wait", id, "--as", "bot"} },
		} {
			w := c.waits(ask...)
			_ = w.Process.Kill()
			_ = w.Wait()
			c.run("reply", w.id, "You may.")
			if got := c.run(again(w.id)...); got != "Response from user: You may." {
				t.Errorf("%s: it prints %q", name, got)
			}
			c.left("bot")
			ask[len(ask)-1] += "2" // another ask
		}
		w := c.waits("delegate", "user", "Count", "--wait", "--as", "bot")
		_ = w.Process.Kill()
		_ = w.Wait()
		c.run("task", "complete", w.id, "Three.")
		if got := c.run("wait", w.id, "--as", "bot"); got != "Response from user: Three." {
			t.Errorf("the task: it prints %q", got)
		}
		c.left("bot")
	})
}

// TestARunsAskOutlivesItsHub: a run asks by the socket, and its hub is killed. The next attempt goes on with the same ask, and
// its answer is posted once.
func TestARunsAskOutlivesItsHub(t *testing.T) {
	onBoth(t, func(t *testing.T, c *calls) {
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
		if said := c.run("wait", inbox.Messages[0].ID); said != "Response from user: You may." {
			t.Errorf("the ask came to %q", said)
		}
		c.left("worker")
		dm := c.run("conv", "export", inbox.Messages[0].Conversation)
		if strings.Count(dm, "Pattern: ask") != 1 || strings.Count(dm, "Response from user: You may.") != 1 {
			t.Errorf("what was asked and answered once is in the DM as\n%s", dm)
		}
	})
}

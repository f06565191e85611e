//go:build clients

package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// hub is the program as a whole, with one client in its PATH.
type hub struct {
	*setup
	process *exec.Cmd
	stderr  strings.Builder
	ended   chan error
}

// newHub starts a hub with an agent that a client runs.
func newHub(t *testing.T, c client) *hub {
	t.Helper()
	h := &hub{setup: newSetup(t, c)}
	h.environ = append(h.environ, "PARLEY_HOME="+filepath.Join(h.home, "hub"), "PARLEY_ADDR=127.0.0.1:0", "PARLEY_RUNS_GRACE=3s")
	h.up(t)
	t.Cleanup(func() { h.kill(t) })
	add := []string{"agent", "add", "ana", "--role", "fruiterer", "--runtime", c.name}
	if name, ok := c.config["model"].(string); ok {
		add = append(add, "--model", name)
	}
	h.parley(t, add...)
	return h
}

// commandTimeout is how long a command may take.
const commandTimeout = 3 * time.Minute

// command returns a call of parley as the owner.
func (h *hub) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, abs(t, "bin/parley"), args...)
	cmd.Dir, cmd.Env = h.home, h.environ
	return cmd
}

// parley runs parley and returns its output.
func (h *hub) parley(t *testing.T, args ...string) string {
	t.Helper()
	printed, err := h.command(t, args...).Output()
	if err != nil {
		stderr := ""
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			stderr = string(exit.Stderr)
		}
		t.Fatalf("parley %s: %v\n%s%s\n%s", strings.Join(args, " "), err, printed, stderr, h.parleyRuns(t))
	}
	return string(printed)
}

// parleyRuns returns the list of runs, for the message of a failed test.
func (h *hub) parleyRuns(t *testing.T) string {
	printed, _ := h.command(t, "agent", "runs").CombinedOutput()
	return string(printed)
}

// up starts the hub, and waits until it reports that it is running.
func (h *hub) up(t *testing.T) {
	t.Helper()
	h.process, h.ended = exec.Command(abs(t, "bin/parley"), "up"), make(chan error, 1)
	h.process.Dir, h.process.Env = h.home, h.environ
	output, err := h.process.StderrPipe()
	if err == nil {
		err = h.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go h.readStderr(bufio.NewScanner(output), ready)
	select {
	case <-ready:
	case err := <-h.ended:
		h.process = nil
		t.Fatalf("the hub did not start: %v\n%s", err, h.stderr.String())
	}
}

func (h *hub) readStderr(lines *bufio.Scanner, ready chan<- struct{}) {
	for lines.Scan() {
		h.stderr.WriteString(lines.Text() + "\n")
		if ready != nil && strings.Contains(lines.Text(), "The hub is running") {
			close(ready)
			ready = nil
		}
	}
	h.ended <- h.process.Wait()
}

// down stops the hub, and waits until it has ended.
func (h *hub) down(t *testing.T) {
	t.Helper()
	if err := h.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := <-h.ended
	h.process = nil
	if err != nil {
		t.Fatalf("the hub ended with %v\n%s", err, h.stderr.String())
	}
}

func (h *hub) kill(t *testing.T) {
	if h.process != nil {
		h.down(t)
	}
	if t.Failed() {
		t.Logf("the hub logged:\n%s", h.stderr.String())
	}
}

// leftProcesses lists the processes that still run in the home of the hub, although the hub has ended.
func (h *hub) leftProcesses(t *testing.T) (found string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if to, err := os.Readlink(dir); err == nil && strings.HasPrefix(to, filepath.Join(h.home, "hub")) {
			found += dir + " " + to + "\n"
		}
	}
	return found
}

// sendResult is the output of send --wait.
type sendResult struct {
	parley.Receipt
	Answers []parley.Message `json:"answers"`
}

// ask sends a message as a person, and returns the text of its answer.
func (h *hub) ask(t *testing.T, args ...string) (text string) {
	t.Helper()
	var got sendResult
	read(t, h.parley(t, append([]string{"send", "--wait", "-o", "json"}, args...)...), &got)
	if len(got.Deliveries) != 1 || got.Deliveries[0].State != parley.DeliveryAnswered || len(got.Answers) != 1 {
		t.Fatalf("it came to %+v", got)
	}
	return got.Answers[0].Content.Text
}

// run returns the client's newest run, with its output.
func (h *hub) run(t *testing.T) (r struct {
	parley.RunView
	Output string `json:"output"`
},
) {
	t.Helper()
	read(t, h.parley(t, "agent", "run", h.runs(t, "ana")[0].ID, "-o", "json"), &r)
	return r
}

// runs returns the runs of an agent, the newest first.
func (h *hub) runs(t *testing.T, agent string) []parley.Run {
	t.Helper()
	return lines[parley.Run](t, h.parley(t, "agent", "runs", agent, "-o", "jsonl"))
}

// lines parses a list of JSON objects, one in each line.
func lines[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	for line := range strings.Lines(text) {
		var one T
		read(t, line, &one)
		list = append(list, one)
	}
	return list
}

func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

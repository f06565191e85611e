package script

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// hub is the hub of a script while it runs.
type hub struct {
	process *exec.Cmd
	says    string          // when it is ready
	said    strings.Builder // on standard error
	ended   chan error
}

type hubKey struct{}

func hubCommand(ts *testscript.TestScript, neg bool, args []string) {
	h, ok := ts.Value(hubKey{}).(*hub)
	if neg && (len(args) == 0 || args[0] != "said") || !ok || len(args) == 0 {
		ts.Fatalf("usage: hub up|demo|detach|down|interrupt|kill|said")
	}
	switch args[0] {
	case "up":
		h.up(ts, "The hub is running", args)
	case "demo":
		h.up(ts, "Ctrl-C ends the demo", args)
	case "detach":
		detach(ts, args[1:])
	case "down":
		h.down(ts, syscall.SIGTERM)
	case "interrupt":
		h.down(ts, syscall.SIGINT)
	case "kill":
		h.kill(ts)
	case "said":
		h.check(ts, neg, args[1:])
	default:
		ts.Fatalf("unknown command: hub %s", args[0])
	}
}

// up starts a hub by a command, and waits until it says that it is ready.
func (h *hub) up(ts *testscript.TestScript, says string, command []string) {
	if h.process != nil {
		ts.Fatalf("the hub runs already")
	}
	*h = hub{process: exec.Command(program(ts), command...), says: says, ended: make(chan error, 1)}
	h.process.Dir, h.process.Env = ts.MkAbs("."), environment(ts)
	output, err := h.process.StderrPipe()
	ts.Check(err)
	ts.Check(h.process.Start())
	ts.Defer(func() { h.kill(ts) })
	ready := make(chan struct{})
	go h.listen(output, ready)
	select {
	case <-ready:
	case err := <-h.ended:
		h.process = nil
		ts.Fatalf("the hub did not start: %v\n%s", err, h.said.String())
	}
}

// listen reads what the hub says to its end, and waits for the process.
func (h *hub) listen(output io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		h.said.WriteString(lines.Text() + "\n")
		if ready != nil && strings.Contains(lines.Text(), h.says) {
			close(ready)
			ready = nil
		}
	}
	h.ended <- h.process.Wait()
}

// detach starts a hub in the background, which does not outlive the script.
func detach(ts *testscript.TestScript, flags []string) {
	ts.Defer(func() {
		stop := exec.Command(program(ts), "down")
		stop.Env = environment(ts)
		_ = stop.Run() // it may have been stopped
	})
	ts.Check(ts.Exec(program(ts), append([]string{"up", "--detach"}, flags...)...))
}

// down stops the hub as a person would.
func (h *hub) down(ts *testscript.TestScript, signal os.Signal) {
	if h.process == nil {
		ts.Fatalf("the hub does not run")
	}
	ts.Check(h.process.Process.Signal(signal))
	err := <-h.ended
	h.process = nil
	if err != nil {
		ts.Fatalf("the hub ended with %v\n%s", err, h.said.String())
	}
}

// kill ends the hub without a warning, if it is still there.
func (h *hub) kill(ts *testscript.TestScript) {
	if h.process == nil {
		return
	}
	_ = h.process.Process.Kill()
	<-h.ended
	ts.Logf("the hub said:\n%s", h.said.String())
	h.process = nil
}

// check looks for something in what the hub has said up to its end.
func (h *hub) check(ts *testscript.TestScript, neg bool, args []string) {
	if h.process != nil || len(args) != 1 {
		ts.Fatalf("usage, once the hub is down: hub said REGEXP")
	}
	form, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if form.MatchString(h.said.String()) == neg {
		ts.Fatalf("the hub said it or not (%s):\n%s", args[0], h.said.String())
	}
}

// program is where the script finds the program.
func program(ts *testscript.TestScript) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, "parley"); isFile(path) {
			return path
		}
	}
	ts.Fatalf("the program is not in the PATH")
	return ""
}

func isFile(path string) bool {
	about, err := os.Stat(path)
	return err == nil && about.Mode().IsRegular()
}

// environment is the script's own, as far as the hub needs it.
func environment(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "PARLEY_HOME", "PARLEY_STORE", "PARLEY_ADDR", raceOptions} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

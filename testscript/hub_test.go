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
	process   *exec.Cmd
	readyText string          // in the line by which the hub says that it is ready
	output    strings.Builder // on standard error
	ended     chan error
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

// up starts a hub by a command, and waits until the hub prints the text.
func (h *hub) up(ts *testscript.TestScript, readyText string, command []string) {
	if h.process != nil {
		ts.Fatalf("the hub runs already")
	}
	*h = hub{process: exec.Command(program(ts), command...), readyText: readyText, ended: make(chan error, 1)}
	h.process.Dir, h.process.Env = ts.MkAbs("."), environment(ts)
	stderr, err := h.process.StderrPipe()
	ts.Check(err)
	ts.Check(h.process.Start())
	ts.Defer(func() { h.kill(ts) })
	ready := make(chan struct{})
	go h.listen(stderr, ready)
	select {
	case <-ready:
	case err := <-h.ended:
		h.process = nil
		ts.Fatalf("the hub did not start: %v\n%s", err, h.output.String())
	}
}

// listen reads the hub's standard error to its end, and waits for the process. It closes ready when the hub is ready.
func (h *hub) listen(stderr io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		h.output.WriteString(lines.Text() + "\n")
		if ready != nil && strings.Contains(lines.Text(), h.readyText) {
			close(ready)
			ready = nil
		}
	}
	h.ended <- h.process.Wait()
}

// detach starts a hub in the background. The hub stops at the end of the script.
func detach(ts *testscript.TestScript, flags []string) {
	ts.Defer(func() {
		stop := exec.Command(program(ts), "down")
		stop.Env = environment(ts)
		_ = stop.Run() // the script may have stopped it
	})
	ts.Check(ts.Exec(program(ts), append([]string{"up", "--detach"}, flags...)...))
}

// down stops the hub by a signal and requires that it ends without an error.
func (h *hub) down(ts *testscript.TestScript, signal os.Signal) {
	if h.process == nil {
		ts.Fatalf("the hub does not run")
	}
	ts.Check(h.process.Process.Signal(signal))
	err := <-h.ended
	h.process = nil
	if err != nil {
		ts.Fatalf("the hub ended with %v\n%s", err, h.output.String())
	}
}

// kill ends the hub by KILL, if it still runs.
func (h *hub) kill(ts *testscript.TestScript) {
	if h.process == nil {
		return
	}
	_ = h.process.Process.Kill()
	<-h.ended
	ts.Logf("the hub said:\n%s", h.output.String())
	h.process = nil
}

// check is the command hub said: it searches the output of a hub that has ended.
func (h *hub) check(ts *testscript.TestScript, neg bool, args []string) {
	if h.process != nil || len(args) != 1 {
		ts.Fatalf("usage, once the hub is down: hub said REGEXP")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if pattern.MatchString(h.output.String()) == neg {
		ts.Fatalf("the hub said it or not (%s):\n%s", args[0], h.output.String())
	}
}

// program returns the path of the program in the script's PATH.
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
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// environment returns the variables of the script that the hub needs.
func environment(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "PARLEY_HOME", "PARLEY_STORE", "PARLEY_ADDR", raceOptions} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

package script

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestCommandsThatTheDemoSuggestsWork types every command that the demo tells its user to try, in their order.
func TestCommandsThatTheDemoSuggestsWork(t *testing.T) {
	d := startDemo(t)
	var watch *exec.Cmd
	var watched *bufio.Reader
	for _, tt := range []struct{ command, shows, until string }{
		{`parley approval list`, "internbot", ""},
		{`parley approval approve ` + d.approval, "internbot", "Response from SeniorAnalystBot: Your approach is sound."},
		{`parley ask databot "What was our Q4 revenue?"`, "Q4 2025 Total Revenue: $2.4M", ""},
		{`parley delegate coordinatorbot "Prepare Q4 report"`, "Delegated to CoordinatorBot (subtask task-", ""},
		{`parley task tree`, `"Prepare Q4 report" (CoordinatorBot)`, ""},
		{`parley chat coordinatorbot`, "", ""},
		{`parley chat --conv project-alpha "@DataBot @AnalystBot how was Q4?"`, "accepted  analystbot", "We're #2 in market share"},
		{`parley who`, "AnalystBot", ""},
		{`parley top`, "coordinatorbot", ""},
		{`parley watch`, "", ""},
		{`parley search revenue`, "What was our Q4 revenue?", ""},
		{`parley send writerbot "draft a blog post"`, "accepted  writerbot", ""},
		{`parley agent runs --live`, "", ""},
		{`parley agent show writerbot`, "WriterBot", ""},
		{`parley agent runs`, "coordinatorbot", ""},
		{`parley chat --conv project-alpha "@DataBot loop"`, "accepted  databot", "the hub holds further wake-ups between them"},
		{`parley agent resume-pair databot analystbot`, "resumed", ""},
		{`parley permit check internbot senioranalystbot`, "allowed", ""},
		{`parley send internbot "a coffee, please" --wait`, "It took me 2 attempts.", ""},
		{`parley agent pause databot --reason lunch`, "paused", ""},
		{`parley send databot hello`, "accepted", ""},
		{`parley agent resume databot`, "resumed", "Hello! I have figures."},
		{`parley sign-in`, "/sign-in", ""},
	} {
		if len(d.commands) == 0 || d.commands[0] != tt.command {
			t.Fatalf("the next commands are %q, want %q", d.commands, tt.command)
		}
		d.commands = d.commands[1:]
		command := exec.Command("sh", "-c", d.export+"\nexec "+tt.command)
		command.Env = d.env
		if tt.command == "parley watch" { // runs until the test interrupts it
			watch, watched = command, startPiped(t, command)
			continue
		}
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.shows) {
			t.Errorf("%s: %v, and it shows\n%s", tt.command, err, out)
		}
		d.until(tt.until)
	}
	if len(d.commands) > 0 {
		t.Errorf("nobody tries %q", d.commands)
	}
	if line, err := watched.ReadString('\n'); err != nil {
		t.Errorf("parley watch shows %q, %v", line, err)
	}
	interrupt(t, watch)
	interrupt(t, d.process)
	if files, err := os.ReadDir(d.tmp); err != nil || len(files) > 0 {
		t.Errorf("the demo leaves %v, %v", files, err)
	}
}

// demoRun is a running demo, with the commands that it suggests.
type demoRun struct {
	t        *testing.T
	process  *exec.Cmd
	env      []string
	tmp      string
	export   string
	approval string // id of the pending approval
	commands []string
	messages *bufio.Reader // the messages that the demo prints
}

func startDemo(t *testing.T) *demoRun {
	t.Helper()
	d := &demoRun{t: t, tmp: t.TempDir()}
	d.env = append(os.Environ(), "TMPDIR="+d.tmp, "HOME="+t.TempDir(), "PARLEY_HOME=")
	d.process = exec.Command("parley", "demo", "--addr", "127.0.0.1:0")
	d.process.Env = d.env
	stderr, err := d.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.messages = startPiped(t, d.process)
	d.readSuggestions(stderr)
	return d
}

// readSuggestions reads the commands that the demo suggests.
func (d *demoRun) readSuggestions(stderr io.Reader) {
	d.t.Helper()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		switch line := strings.TrimSpace(lines.Text()); {
		case strings.HasPrefix(line, "export "):
			d.export = line
		case strings.HasPrefix(line, "parley "):
			d.commands = append(d.commands, line)
			if id, ok := strings.CutPrefix(line, "parley approval approve "); ok {
				d.approval = id
			}
		case strings.HasPrefix(line, "Ctrl-C ends the demo"):
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	d.t.Fatalf("the demo ended: %v", lines.Err())
}

// until reads the messages of the demo up to the first line with a text.
func (d *demoRun) until(text string) {
	d.t.Helper()
	for text != "" {
		line, err := d.messages.ReadString('\n')
		if err != nil {
			d.t.Fatalf("the demo never shows %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// startPiped starts a process that ends with the test, and returns its standard output.
func startPiped(t *testing.T, command *exec.Cmd) *bufio.Reader {
	t.Helper()
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // if it still runs
	return bufio.NewReader(out)
}

func interrupt(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if state, err := command.Process.Wait(); err != nil || state.ExitCode() > 0 && state.ExitCode() != 130 {
		t.Errorf("%v ended with %v, %v", command.Args, state, err)
	}
}

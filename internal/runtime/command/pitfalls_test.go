package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestAnswersThatComeInAnyShape(t *testing.T) {
	answer := recording(t, "claude", "answer")
	noise := "(node:12) Warning: something\n\n[1m\u001b[0m not json {\n{\"type\": broken\n[1, 2]\n"
	for name, p := range map[string]fakeClient{
		"split across reads": {Behaviour: "answer in pieces", Stdout: answer},
		"with noise":         {Behaviour: "answer", Stdout: noise + answer + noise},
		"without a last end": {Behaviour: "answer", Stdout: strings.TrimSuffix(answer, "\n")},
		"then a failure":     {Behaviour: "answer", Stdout: answer, Exit: 1}, // the result counts
	} {
		t.Run(name, func(t *testing.T) {
			if result := mustRun(t, newBench(t, "claude", p, Options{})); result.Text != "The answer is pong." {
				t.Errorf("the answer is %q", result.Text)
			}
		})
	}
}

func TestExitCodeZeroIsNoSuccess(t *testing.T) {
	started := strings.Split(recording(t, "claude", "answer"), "\n")[0] + "\n"
	for _, client := range []string{"claude", "codex", "gemini", "opencode", "qwen", "cursor", "amp", "goose"} {
		b := newBench(t, client, fakeClient{Behaviour: "answer", Stdout: started}, Options{})
		_, err := b.run(t.Context())
		wantFailure(t, err, parley.FailureFinal, "ended without an answer", "by hand")
	}
}

func TestAQuestionToAPersonEndsTheRun(t *testing.T) {
	b := newBench(t, "cursor", fakeClient{Behaviour: "ask", Stdout: "⚠ Workspace Trust Required\nDo you trust this directory? [y/N] \n"}, Options{})
	_, err := b.run(t.Context())
	wantFailure(t, err, parley.FailureFinal, "--trust")
}

func TestAnUnknownQuestionEndsWithTheDeadline(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "ask", Stdout: "Continue? [y/N]\n"}, Options{})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("it is late"))
	defer cancel()
	_, err := b.run(ctx)
	wantFailure(t, err, parley.FailureStopped, "it is late")
}

func TestADeadlineReportsTheLastErrorOfTheClient(t *testing.T) {
	a := newAttempt(&runPlan{preset: Presets()["opencode"]}, "")
	a.keepTail(`level=ERROR error.error="AI_APICallError: status 429"`)
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	<-late.Done()
	wantFailure(t, a.interrupted(late), parley.FailureBusy, "has reached its rate limit")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	wantFailure(t, a.interrupted(stopped), parley.FailureStopped)
}

func TestOutputWithoutEnd(t *testing.T) {
	for name, p := range map[string]fakeClient{
		"lines":    {Behaviour: "flood", Stdout: "{\"type\":\"noise\"}\n"},
		"one line": {Behaviour: "flood", Stdout: strings.Repeat("x", 1<<16)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newBench(t, "claude", p, Options{OutputLimit: 6 << 20}).run(t.Context())
			wantFailure(t, err, parley.FailureFinal, "claude wrote", "make the program write less")
		})
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	presets, err := ParsePresets([]byte("mine: {argv: [my-program]}"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOf(t, presets, "mine", fakeClient{Behaviour: "answer"}, Options{})
	raw := filepath.Join(b.bin, "raw") // the JSON of a fake client cannot hold invalid UTF-8
	if err := os.WriteFile(raw, []byte("caf\xe9 \xff\x00 end"), 0o600); err != nil {
		t.Fatal(err)
	}
	presets["mine"] = Preset{Argv: []string{"/bin/cat", raw}, Output: FormatText}
	if result := mustRun(t, b); result.Text != "caf\uFFFD \uFFFD\uFFFD end" {
		t.Errorf("the answer is %q", result.Text)
	}
}

// hasEnded reports whether a process has ended, even if its parent has not waited for it yet.
func hasEnded(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// wantEnded waits until a process has ended, and fails the test after a while.
func wantEnded(t *testing.T, pid int) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !hasEnded(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// heldPID returns the number of the process that a fake client has started.
func (b *bench) heldPID(t *testing.T) (pid int) {
	t.Helper()
	for line := range strings.Lines(b.output.String()) {
		_, _ = fmt.Sscanf(line, "holder %d", &pid)
	}
	if pid == 0 {
		t.Fatalf("nothing was started: %s", b.output.String())
	}
	return pid
}

func TestAClientThatIgnoresTERMIsKilled(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "ignore TERM", Stdout: "deaf\n"}, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	b.onLog = func(text string) {
		if strings.Contains(text, "deaf") {
			cancel(errors.New("the hub is stopping"))
		}
	}
	_, err := b.run(ctx)
	wantFailure(t, err, parley.FailureStopped, "the hub is stopping")
	if !strings.Contains(b.output.String(), "signal: killed") {
		t.Errorf("it ended with %q", b.output.String())
	}
	wantEnded(t, b.begun[0].PID)
}

func TestARunThatIsOverBeforeItBeganStartsNothing(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer"}, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the hub is stopping"))
	_, err := b.run(ctx)
	wantFailure(t, err, parley.FailureStopped, "the hub is stopping")
	if len(b.begun) > 0 {
		t.Error("it began")
	}
}

func TestChildrenAreNotLeft(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "leave a child", Stdout: recording(t, "claude", "answer")}, Options{})
	mustRun(t, b)
	wantEnded(t, b.heldPID(t))
}

// A child in a session of its own keeps the output open. The run does not wait for the child. The runtime calls Options.Kill,
// which can find such a child.
func TestADaemonDoesNotHoldUpTheRun(t *testing.T) {
	var b *bench
	kill := func(_ context.Context, runs []parley.Run) error {
		if len(runs) != 1 || runs[0].ID != b.id {
			t.Errorf("it is asked for what %v have left", runs)
		}
		return syscall.Kill(b.heldPID(t), syscall.SIGKILL)
	}
	b = newBench(t, "claude", fakeClient{Behaviour: "leave a daemon", Stdout: recording(t, "claude", "answer")}, Options{Kill: kill})
	if result := mustRun(t, b); result.Text != "The answer is pong." {
		t.Errorf("the answer is %q", result.Text)
	}
	wantEnded(t, b.heldPID(t))
}

func TestAClientThatDiesHalfWayMayBeRetried(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "die half-way", Stdout: recording(t, "claude", "answer")}, Options{})
	_, err := b.run(t.Context())
	wantFailure(t, err, parley.FailureLost, "signal: killed")
}

func TestAPromptThatNobodyReads(t *testing.T) {
	presets, err := ParsePresets([]byte("mine: {argv: [/bin/echo, hello]}"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOf(t, presets, "mine", fakeClient{}, Options{})
	b.prompt.User = strings.Repeat("x", 1<<20) // more than a pipe holds
	if result := mustRun(t, b); result.Text != "hello" {
		t.Errorf("the answer is %q", result.Text)
	}
}

// A program can end before RunRequest.Begin registers it. RunRequest.Begin must still find its process.
func TestAProgramExistsUntilItsBeginIsReported(t *testing.T) {
	presets, err := ParsePresets([]byte("mine: {argv: [/bin/echo, hello]}"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOf(t, presets, "mine", fakeClient{}, Options{})
	request := b.runRequest()
	request.Begin = func(_ context.Context, p parley.Process) error {
		wantEnded(t, p.PID)
		return syscall.Kill(p.PID, 0)
	}
	if result, err := b.Run(t.Context(), request); err != nil || result.Text != "hello" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestProgramsThatCannotBeStartedFail(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/there/is/no/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	presets := map[string]Preset{
		"no-interpreter": {Argv: []string{script}, Output: FormatText},
		"no-program":     {Argv: []string{filepath.Join(dir, "nothing")}, Output: FormatText},
	}
	for name := range presets {
		r := New(presets, Options{})
		_, err := r.Run(t.Context(), parley.RunRequest{Dir: t.TempDir(), Agent: parley.Agent{Profile: parley.Profile{Runtime: name}}})
		wantFailure(t, err, parley.FailureNoStart)
	}
}

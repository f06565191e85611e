//go:build unix

package hook_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hook"
)

// waitsIn is the variable that makes this program a hook that waits, in the directory that it names.
const waitsIn = "PARLEY_TEST_WAITS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(waitsIn); dir != "" {
		waitUntilEnded(dir)
		return
	}
	os.Exit(m.Run())
}

func waitUntilEnded(dir string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	release, err := hook.Waits{Dir: dir}.Begin(ctx, "s-1", stop)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer release()
	fmt.Println("waiting")
	<-ctx.Done()
	fmt.Println("ended")
}

// startWaiting starts a process that waits, and returns a function that returns the next line that it prints.
func startWaiting(t *testing.T, dir string) (line func() string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), waitsIn+"="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	return func() string {
		lines.Scan()
		return lines.Text()
	}
}

// TestOneHookWaitsForASession: the next one takes its place, and the beginning of a turn ends it.
func TestOneHookWaitsForASession(t *testing.T) {
	dir := t.TempDir()
	first := startWaiting(t, dir)
	if got := first(); got != "waiting" {
		t.Fatal(got)
	}
	second := startWaiting(t, dir)
	if got := []string{first(), second()}; got[0] != "ended" || got[1] != "waiting" {
		t.Fatalf("%q", got)
	}
	waits := hook.Waits{Dir: dir}
	waits.End("s-2") // another session
	waits.EndRequest(parley.ToolUse{Session: "s-1", Tool: "Bash"})
	run(t, newFakeHub(), "claude", "UserPromptSubmit", `{"session_id":"s-1"}`, func(c *hook.Call) { c.Waits = waits })
	if got := second(); got != "ended" {
		t.Fatal(got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 1 { // the process may be about to remove its file
		t.Errorf("%v is left, %v", left, err)
	}
}

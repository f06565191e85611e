//go:build linux

package peer

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
)

// launch starts a helper as a process of a run, in a session of its own and without an environment.
func launch(t *testing.T, r *Registry, run, helper string) (pid int, output *bufio.Reader) {
	t.Helper()
	program, arguments := r.Launch(run, os.Args[0], []string{"helper", helper})
	cmd := exec.Command(program, arguments...)
	cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{Setsid: true}
	output = startHelper(t, cmd, 1)
	return cmd.Process.Pid, output
}

// Row "Process that joins the hub's process group": the mark of a run cannot be taken off, by whatever way a process has
// come to be elsewhere. Another process of the test stands for the hub after its restart: it knows nothing of the run.
func TestWhatARunHasStartedIsNeverTheOwner(t *testing.T) {
	for _, hub := range []string{"test", "another hub"} {
		r := NewRegistry("test")
		pid, _ := launch(t, r, "run-1", "linger")
		if marked, err := isMarked(pid); err != nil || !marked {
			t.Fatalf("it has no mark: %v", err)
		}
		if o, err := NewRegistry(hub).Who(pid); err != nil || !o.Left {
			t.Errorf("at %s it is %+v, %v", hub, o, err)
		}
	}
	if marked, err := isMarked(os.Getpid()); err != nil || marked {
		t.Errorf("the hub is marked: %v, %v", marked, err)
	}
}

func TestSweepEndsWhatIsLeftOfThisHub(t *testing.T) {
	ours, others := NewRegistry("test"), NewRegistry("another hub")
	_, left := launch(t, ours, "run-1", "linger")
	other, _ := launch(t, others, "run-1", "linger")
	if err := NewRegistry("test").Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(left); err != nil {
		t.Error(err)
	}
	if !isAlive(other) {
		t.Error("what belongs to another hub was ended")
	}
}

func TestKillEndsWhatCarriesTheMarkOfARun(t *testing.T) {
	r := NewRegistry("test")
	_, left := launch(t, r, "run-1", "linger")
	other, _ := launch(t, r, "run-2", "linger")
	if err := r.Kill(t.Context(), []parley.Run{{ID: "run-1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(left); err != nil {
		t.Error(err)
	}
	if !isAlive(other) {
		t.Error("what belongs to another run was ended")
	}
}

func TestAProgramThatCannotBeStartedIsToldSo(t *testing.T) {
	program, arguments := NewRegistry("test").Launch("run-1", "/no/such/program", nil)
	said, err := exec.Command(program, arguments...).CombinedOutput()
	if want := "the program cannot be started: no such file or directory\n"; string(said) != want || err == nil {
		t.Errorf("it says %q, %v", said, err)
	}
}

func TestMarksAreBelowTheLimitAndAmongThoseOfTheirHub(t *testing.T) {
	r := NewRegistry("test")
	for _, run := range []string{"", "run-1", "0197-some-id"} {
		if mark := r.markOf(run); mark == 0 || mark >= ownLimit() || !r.isOurs(mark) || NewRegistry("another hub").isOurs(mark) {
			t.Errorf("the mark of %q is %d", run, mark)
		}
	}
	for _, own := range []uint64{0, 1, markSpace} {
		if got := ceiling(own); got > own {
			t.Errorf("below %d there is %d", own, got)
		}
	}
	if r.isOurs(1000) || r.isOurs(1<<63) {
		t.Error("a limit that is no mark is one of the hub's")
	}
}

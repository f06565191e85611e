//go:build linux

package peer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// A process that has lowered its marks survives the hub that started it: the next hub does not find it. Another process
// of the test stands for that hub. It knows nothing of the run, and nothing here descends from it.
func TestAProcessThatLoweredItsMarkIsNeverTheOwner(t *testing.T) {
	for _, mark := range []string{"0", "1000", fmt.Sprint(NewRegistry("another hub").markOf("run-1") - 1<<runBits)} {
		path := filepath.Join(t.TempDir(), "s")
		hub := exec.Command(os.Args[0], "helper", "hub", path)
		out, err := hub.StdoutPipe()
		if err == nil {
			err = hub.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan() // ready
		program, arguments := NewRegistry("test").Launch("run-1", os.Args[0], []string{"helper", "lower and connect", mark, path})
		if err := exec.Command(program, arguments...).Run(); err != nil {
			t.Fatal(err)
		}
		if lines.Scan(); !strings.Contains(lines.Text(), leftBehind) {
			t.Errorf("with the mark %s it is %q", mark, lines.Text())
		}
		if err := hub.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Row "Process that joins the hub's process group": the mark of a run cannot be taken off, by whatever way a process has
// come to be elsewhere.
func TestProcessesOfARunAreNeverTheOwner(t *testing.T) {
	for _, hub := range []string{"test", "another hub"} {
		r := NewRegistry("test")
		pid, _ := launch(t, r, "run-1", "linger")
		if found, err := limitsOf(pid); err != nil || found != r.limitsFor("run-1") {
			t.Fatalf("it has no marks: %+v, %v", found, err)
		}
		if o, err := NewRegistry(hub).OriginOf(pid); err != nil || !o.Leftover {
			t.Errorf("at %s it is %+v, %v", hub, o, err)
		}
	}
	if found, err := limitsOf(os.Getpid()); err != nil || found != (limits{ownLimit(), ownProof()}) {
		t.Errorf("the hub is marked: %+v, %v", found, err)
	}
}

func TestSweepEndsLeftoverProcessesOfThisHub(t *testing.T) {
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

func TestKillEndsProcessesWithTheMarkOfARun(t *testing.T) {
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

func TestAProgramThatCannotBeStartedIsReported(t *testing.T) {
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

// daemon has a run start a process that leaves its parent and its session, and returns that process's number. helper is
// what the run does.
func daemon(t *testing.T, r *Registry, run string, helper ...string) (pid int, root *exec.Cmd) {
	t.Helper()
	listener, path := listen(t)
	program, arguments := r.Launch(run, os.Args[0], slices.Concat([]string{"helper"}, helper, []string{path}))
	root = exec.Command(program, arguments...)
	root.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := root.StdinPipe()
	if err == nil {
		err = root.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	conn := accept(t, listener)
	t.Cleanup(func() { _, _, _ = conn.Close(), stdin.Close(), root.Wait() })
	return processAt(t, conn), root
}

// SPEC 7.4: a daemonized child of a run is still found, and is that agent while the run goes on.
func TestADaemonIsItsRunsAgentWhileTheRunGoesOn(t *testing.T) {
	r := NewRegistry("test")
	pid, root := daemon(t, r, "run-1", "spawn")
	if o, err := r.OriginOf(pid); err != nil || o != (Origin{Leftover: true}) {
		t.Errorf("before its run is registered it is %+v, %v", o, err)
	}
	remove := r.Add(root.Process.Pid, "arya", "run-1")
	if o, err := r.OriginOf(pid); err != nil || o != (Origin{Agent: "arya", Run: "run-1"}) {
		t.Errorf("while its run goes on it is %+v, %v", o, err)
	}
	leave := r.Attach(pid, "gendry", nil)
	if o, err := r.OriginOf(pid); err != nil || o.Agent != "arya" {
		t.Errorf("with a session of another agent it is %+v, %v", o, err)
	}
	leave()
	remove()
	if o, err := r.OriginOf(pid); err != nil || o != (Origin{Leftover: true}) {
		t.Errorf("after its run it is %+v, %v", o, err)
	}
}

// A process can lower its limits to the numbers of another run, but never both.
func TestNoRunHasBothLimitsAboveThoseOfAnother(t *testing.T) {
	r, other := NewRegistry("test"), NewRegistry("another hub")
	var all []limits
	for i := range 50 {
		all = append(all, r.limitsFor(fmt.Sprint("run-", i)), other.limitsFor(fmt.Sprint("run-", i)))
	}
	for i, one := range all {
		if one.proof == 0 || one.proof >= ownProof() {
			t.Errorf("the second limit is %d", one.proof)
		}
		for j, another := range all {
			if i != j && one.mark >= another.mark && one.proof >= another.proof {
				t.Errorf("%+v can be lowered to %+v", one, another)
			}
		}
	}
}

func TestADaemonThatTakesTheMarkOfAnotherRunIsNobody(t *testing.T) {
	r := NewRegistry("test")
	runs := []string{"run-1", "run-2"}
	if r.markOf(runs[0]) > r.markOf(runs[1]) {
		slices.Reverse(runs)
	}
	lower, higher := runs[0], runs[1]
	_, victim := daemon(t, r, lower, "spawn")
	defer r.Add(victim.Process.Pid, "gendry", lower)()
	pid, thief := daemon(t, r, higher, "lower and spawn", fmt.Sprint(r.markOf(lower)))
	defer r.Add(thief.Process.Pid, "arya", higher)()
	if found, err := limitsOf(pid); err != nil || found != (limits{r.markOf(lower), r.proofOf(higher)}) {
		t.Fatalf("it has %+v, %v", found, err)
	}
	if o, err := r.OriginOf(pid); err != nil || o != (Origin{Leftover: true}) {
		t.Errorf("it is %+v, %v", o, err)
	}
}

// Where two runs have the same marks by chance, or one that has ended may have left something, marks prove nothing.
func TestMarksOfTwoRunsProveNothing(t *testing.T) {
	r := NewRegistry("test")
	pid, root := daemon(t, r, "run-1", "spawn")
	defer r.Add(root.Process.Pid, "arya", "run-1")()
	r.claims[1<<30] = claim{agent: "gendry", run: "run-2", limits: r.limitsFor("run-1"), times: 1}
	r.checkMark(r.claims[1<<30])
	delete(r.claims, 1<<30)
	if o, err := r.OriginOf(pid); err != nil || o != (Origin{Leftover: true}) {
		t.Errorf("with the marks of another run it is %+v, %v", o, err)
	}
	r.untrusted = map[uint64]bool{}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = launch(t, r, "run-3", "linger")
	if err := r.Kill(ended, []parley.Run{{ID: "run-3"}}); err == nil || !r.untrusted[r.markOf("run-3")] {
		t.Errorf("what could not be ended for certain: %v, %v", err, r.untrusted)
	}
}

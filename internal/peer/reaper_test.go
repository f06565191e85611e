//go:build linux

package peer

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/service"
)

// settled waits until a condition holds that the system brings about in its own time.
func settled(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func isZombie(pid int) bool {
	s, err := readStat(pid)
	return err == nil && s.state == 'Z'
}

// orphan is the number of a process that is adopted by this one and ends then.
func orphan(t *testing.T, r *Registry) int {
	t.Helper()
	listener, path := listen(t)
	if err := exec.Command(os.Args[0], "helper", "detach", path).Run(); err != nil {
		t.Fatal(err)
	}
	conn := accept(t, listener)
	who, err := credentialsOf(conn.(*net.UnixConn))
	if err != nil {
		t.Fatal(err)
	}
	if o, err := r.OriginOf(who.pid); err != nil || !o.Leftover {
		t.Fatalf("it is not adopted: %v", err)
	}
	_ = conn.Close()
	return who.pid
}

func TestAdoptedProcessesAreWaitedFor(t *testing.T) {
	r := NewReaper(NewRegistry("test"))
	r.grace = 100 * time.Millisecond
	s := service.New(r.Run)
	s.Start(context.Background())
	defer s.Stop()
	<-s.Started()
	pid := orphan(t, r.registry)
	settled(t, "it stays in the table", func() bool { _, err := readStat(pid); return err != nil })
}

func TestProcessesOfRunsAreLeftToThem(t *testing.T) {
	registry := NewRegistry("test")
	r := NewReaper(registry)
	run, other := exec.Command("/bin/false"), exec.Command("/bin/false")
	for _, cmd := range []*exec.Cmd{run, other} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		settled(t, "it goes on", func() bool { return isZombie(cmd.Process.Pid) })
	}
	remove := registry.Add(run.Process.Pid, "arya", "run-1")
	if !r.check() {
		t.Error("it does not look again after the one that nobody has waited for")
	}
	if !isZombie(other.Process.Pid) {
		t.Error("the starter had no time to wait for its child")
	}
	for range 3 {
		r.check()
	}
	if isZombie(other.Process.Pid) {
		t.Error("the one that nobody waits for is left")
	}
	if !isZombie(run.Process.Pid) {
		t.Fatal("the process of a run was taken away from it")
	}
	if err := run.Wait(); err == nil || run.ProcessState.ExitCode() != 1 {
		t.Errorf("the run ended with %v", err)
	}
	remove()
	_ = other.Wait()
}

// detached starts a run that leaves a process, and returns what tells that this is gone.
func detached(t *testing.T, run *exec.Cmd) (gone func() bool) {
	t.Helper()
	var pid int
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, scanErr := fmt.Sscan(line, &pid); err != nil || scanErr != nil {
		t.Fatalf("it says %q: %v", line, err)
	}
	return func() bool { s, err := readStat(pid); return err != nil || s.state == 'Z' }
}

// hermit is a run that leaves a process without its environment, in a session of its own, says its number, and
// stays until its input ends.
func hermit() *exec.Cmd {
	run := exec.Command("/bin/sh", "-c", `env -i /usr/bin/setsid /bin/sh -c 'echo $$; exec >/dev/null; exec sleep 3600' </dev/null & exec cat >/dev/null`)
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return run
}

// Row "Agent as owner": what hides from the end of its run would be taken for the owner's after a restart.
func TestAgentAsOwnerAfterARestart(t *testing.T) {
	for name, grace := range map[string]time.Duration{"it outlives its run": 10 * time.Millisecond, "it outlives the hub": time.Hour} {
		r := NewReaper(NewRegistry("test"))
		r.grace = grace
		s := service.New(r.Run)
		s.Start(t.Context())
		<-s.Started()
		run := hermit()
		stdin, err := run.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		gone := detached(t, run)
		remove := r.registry.Add(run.Process.Pid, "arya", "run-1")
		other := NewReaper(r.registry)
		other.check()
		if other.check(); gone() {
			t.Error("it is not left alone while its run lives")
		}
		_ = stdin.Close()
		_ = run.Wait()
		remove()
		if grace == time.Hour {
			s.Stop()
		}
		settled(t, name, gone)
		s.Stop()
	}
}

// What no run can have left is not the reaper's: what was there before the first one, what is in the hub's own
// session, and what belongs to a run that goes on.
func TestTheReaperLeavesOthersAlone(t *testing.T) {
	registry := NewRegistry("test")
	r := NewReaper(registry)
	self, none := os.Getpid(), uint64(1<<63)
	at := func(started time.Duration, session int, mark uint64) processState {
		return processState{process: process{self, started, session}, mark: mark}
	}
	if r.isLeftover(99, at(5, 99, none), registry.liveRuns()) {
		t.Error("no run has been there")
	}
	registry.first = 3
	registry.claims[7] = claim{agent: "arya", run: "run-1", started: 4, times: 1}
	elsewhere := at(2, 99, registry.markOf("run-0"))
	elsewhere.parent = 1
	for name, test := range map[string]struct {
		processState
		left bool
	}{
		"from before the first run":              {at(2, 99, none), false},
		"of a run that has ended":                {at(5, 99, registry.markOf("run-0")), true},
		"of a run that has ended, another's now": {elsewhere, true},
		"of a run of another hub":                {processState{process{1, 5, 99}, false, NewRegistry("other").markOf("run-0")}, false},
		"of a run that goes on":                  {at(5, 99, registry.markOf("run-1")), false},
		"in the session of a run that goes on":   {at(5, 7, none), false},
		"of a run, without its mark":             {at(5, 99, none), true},
		"in the session of the hub, its own":     {at(5, ownSession(), none), false},
		"that has ended":                         {processState{process{self, 5, 99}, true, none}, false},
	} {
		if got := r.isLeftover(99, test.processState, registry.liveRuns()); got != test.left {
			t.Errorf("%s: %v", name, got)
		}
	}
}

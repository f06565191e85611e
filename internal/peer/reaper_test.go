//go:build linux

package peer

import (
	"context"
	"net"
	"os"
	"os/exec"
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
	if _, descends, err := r.Who(who.pid); err != nil || !descends {
		t.Fatalf("it is not adopted: %v", err)
	}
	_ = conn.Close()
	return who.pid
}

func TestAdoptedProcessesAreWaitedFor(t *testing.T) {
	r := NewReaper(NewRegistry())
	r.grace = 100 * time.Millisecond
	s := service.New(r.Run)
	s.Start(context.Background())
	defer s.Stop()
	<-s.Started()
	pid := orphan(t, r.registry)
	settled(t, "it stays in the table", func() bool { _, err := readStat(pid); return err != nil })
}

func TestProcessesOfRunsAreLeftToThem(t *testing.T) {
	registry := NewRegistry()
	r := NewReaper(registry)
	run, other := exec.Command("/bin/false"), exec.Command("/bin/false")
	for _, cmd := range []*exec.Cmd{run, other} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		settled(t, "it goes on", func() bool { return isZombie(cmd.Process.Pid) })
	}
	remove := registry.Add(run.Process.Pid, "arya")
	if !r.look() {
		t.Error("it does not look again after the one that nobody has waited for")
	}
	if !isZombie(other.Process.Pid) {
		t.Error("the starter had no time to wait for its child")
	}
	for range 3 {
		r.look()
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

//go:build linux

package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
)

// linger says that it is there and stays until its input ends, whatever it is asked to do.
func linger() int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	fmt.Println("here")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// leave is a run that starts a child in its group without its environment, and one in another group with it.
func leave() int {
	cleared, detached := exec.Command(os.Args[0], "helper", "linger"), exec.Command(os.Args[0], "helper", "linger")
	cleared.Env = []string{}
	detached.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	for _, child := range []*exec.Cmd{cleared, detached} {
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		if child.Start() != nil {
			return 1
		}
	}
	return linger()
}

// startHelper starts a command and waits until so many of its processes have said that they are there. The command ends
// with the test.
func startHelper(t *testing.T, cmd *exec.Cmd, processes int) (output *bufio.Reader) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stdin.Close(), cmd.Wait() })
	output = bufio.NewReader(stdout)
	for range processes {
		if line, err := output.ReadString('\n'); line != "here\n" {
			t.Fatalf("it says %q, %v", line, err)
		}
	}
	return output
}

// startRun starts a helper as a run does, and waits until so many processes of it are there. Its output ends
// with the last of them.
func startRun(t *testing.T, id, helper string, processes int) (p parley.Process, output *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "helper", helper)
	cmd.Env = append(os.Environ(), "PARLEY_RUN="+id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	output = startHelper(t, cmd, processes)
	started, err := NewRegistry("test").Started(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return parley.Process{PID: cmd.Process.Pid, Started: started}, output
}

func isAlive(pid int) bool {
	s, err := readStat(pid)
	return err == nil && s.state != 'Z'
}

func TestKillEndsLeftoverProcessesOfARun(t *testing.T) {
	run, output := startRun(t, "run-1", "leave", 3)
	other, _ := startRun(t, "run-11", "linger", 1)
	reused, _ := startRun(t, "", "linger", 1)
	former := parley.Process{PID: reused.PID, Started: reused.Started - 1}
	err := NewRegistry("test").Kill(t.Context(), []parley.Run{
		{ID: "run-1", Process: run}, {ID: "run-2", Process: former}, {ID: "run-3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(output); err != nil || strings.TrimSpace(string(rest)) != "" {
		t.Errorf("then it says %q, %v", rest, err)
	}
	for name, p := range map[string]parley.Process{"of another run": other, "with the number of a former one": reused} {
		if !isAlive(p.PID) {
			t.Errorf("the process %s was killed", name)
		}
	}
}

func TestKillFindsTheGroupOfAnEndedLeader(t *testing.T) {
	run, output := startRun(t, "run-1", "leave", 3)
	if err := syscall.Kill(run.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	settled(t, "the leader goes on", func() bool { return !isAlive(run.PID) })
	if err := NewRegistry("test").Kill(t.Context(), []parley.Run{{ID: "run-1", Process: run}}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(output); err != nil {
		t.Error(err)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/peer"
)

// children is a runtime whose runs are processes of this program. Most of them answer; some fail, hang or die.
type children struct{ processes *peer.Registry }

func (children) Check(context.Context, parley.Agent) error { return nil }

func (c children) Run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	executable, err := os.Executable()
	if err != nil {
		return parley.Result{}, err
	}
	var answer bytes.Buffer
	program, arguments := c.processes.Launch(request.Run.ID, executable, []string{"child"})
	child := exec.CommandContext(ctx, program, arguments...)
	child.Env = append(os.Environ(), "PARLEY_RUN="+request.Run.ID)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	child.Stdout, child.WaitDelay = &answer, time.Second
	stdin, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		return parley.Result{}, &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureNoStart, Reason: err.Error()}}
	}
	if err = request.Begin(ctx, parley.Process{PID: child.Process.Pid}); err == nil {
		_, _ = io.WriteString(stdin, request.Prompt.User) // the child may have ended
	} else {
		_ = child.Process.Kill()
	}
	_ = stdin.Close()
	ended := child.Wait()
	killErr := c.processes.Kill(context.WithoutCancel(ctx), []parley.Run{request.Run})
	if err := errors.Join(err, killErr); err != nil {
		return parley.Result{}, err
	}
	return c.result(ctx, request, strings.TrimSpace(answer.String()), ended)
}

// result returns the result of a run by the child's output and end. If the child has printed "tell AGENT", it also posts a message
// to that agent.
func (children) result(ctx context.Context, request parley.RunRequest, answer string, ended error) (result parley.Result, err error) {
	if exit, ok := errors.AsType[*exec.ExitError](ended); ok && exit.ExitCode() < 0 {
		return result, &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureLost, Reason: "it was killed"}}
	}
	if ended != nil {
		return result, ended
	}
	if to, ok := strings.CutPrefix(answer, "tell "); ok && to != request.Agent.ID {
		_, err = request.Workspace.Post(ctx, parley.Draft{Direct: []string{to}, Content: parley.Content{
			Text: fmt.Sprintf("%s heard %s", request.Agent.ID, request.Triggers[0].ID),
		}})
	}
	return parley.Result{Text: fmt.Sprintf("%s answers %s", request.Agent.ID, request.Triggers[0].ID)}, err
}

const maxChildLife = 20 * time.Millisecond

// child is the process of a run. It reads its prompt. Then it answers, dies, fails, hangs, leaves a process behind, or names
// another agent that needs a message.
func child() error {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	time.Sleep(rand.N(maxChildLife))
	switch chance := rand.IntN(100); {
	case chance < 4:
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case chance < 6:
		return errors.New("it cannot")
	case chance < 7:
		return linger()
	case chance < 10:
		return fork()
	case chance < 14:
		fmt.Println("done")
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case chance < 24 && strings.HasPrefix(string(prompt), workKey):
		fmt.Println("tell", workerID(0, 1))
	default:
		fmt.Println("done")
	}
	return nil
}

// linger ignores requests to end, for a limited time.
func linger() error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	time.Sleep(time.Minute)
	return nil
}

// fork answers and leaves a process in a session of its own behind.
func fork() error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(executable, "linger")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	fmt.Println("done")
	return child.Start()
}

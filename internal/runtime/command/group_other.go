//go:build !unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func termGroup(pid int) { killGroup(pid) }

// killGroup ends only the program, because this system has no process groups.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func reap(cmd *exec.Cmd) { _ = cmd.Wait() }

//go:build !unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func termGroup(pid int) { killGroup(pid) }

// killGroup ends the program alone: there are no groups here.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func reap(cmd *exec.Cmd) { _ = cmd.Wait() }

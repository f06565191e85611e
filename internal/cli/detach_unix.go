//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detachProcess gives a process a session of its own, which no terminal ends.
func detachProcess(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

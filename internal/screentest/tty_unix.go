//go:build unix

package screentest

import (
	"os/exec"
	"syscall"
)

// onTerminal makes the terminal the program's own, so that it is told of its size.
func onTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }

//go:build unix

package screentest

import (
	"os/exec"
	"syscall"
)

// onTerminal makes the terminal the controlling terminal of the program, so that the program gets its size.
func onTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }

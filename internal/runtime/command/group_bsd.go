//go:build unix && !linux

package command

import "os/exec"

// reap waits for a program, and ends the processes that are left in its group.
func reap(cmd *exec.Cmd) {
	_ = cmd.Wait()
	killGroup(cmd.Process.Pid)
}

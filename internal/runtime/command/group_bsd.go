//go:build unix && !linux

package command

import "os/exec"

// reap waits for a program, and ends what is left of its group.
func reap(cmd *exec.Cmd) {
	_ = cmd.Wait()
	killGroup(cmd.Process.Pid)
}

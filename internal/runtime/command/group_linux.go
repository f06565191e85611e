package command

import (
	"errors"
	"os/exec"

	"golang.org/x/sys/unix"
)

// reap waits for a program, and ends the processes that are left in its group. It ends them before it releases the program's
// number, so that no other process can have that number.
func reap(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	killGroup(cmd.Process.Pid)
	_ = cmd.Wait()
}

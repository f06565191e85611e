package command

import (
	"errors"
	"os/exec"

	"golang.org/x/sys/unix"
)

// reap waits for a program, and ends what is left of its group while the program's number cannot be another's.
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

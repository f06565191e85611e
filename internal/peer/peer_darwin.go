package peer

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// now returns the wall-clock time. On this system, the start times of processes are on this clock.
func now() (time.Duration, error) { return time.Duration(time.Now().UnixNano()), nil }

func credentialsOf(conn *net.UnixConn) (who credentials, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return who, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		var user *unix.Xucred
		if user, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed != nil {
			return
		}
		who.uid = int(user.Uid)
		who.pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	return who, errors.Join(err, failed)
}

func processOf(pid int) (process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO) { // EIO: the answer is empty
		return process{}, errEnded
	}
	if err != nil {
		return process{}, err
	}
	return process{parent: int(info.Eproc.Ppid), started: time.Duration(info.Proc.P_starttime.Nano())}, nil
}

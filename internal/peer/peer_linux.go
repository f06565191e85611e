package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc: 1/100 second on every Linux that Go supports.
const tick = 10 * time.Millisecond

// now returns the time since the system was started, on the clock of /proc.
func now() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}

func credentialsOf(conn *net.UnixConn) (who credentials, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return who, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		var c *unix.Ucred
		if c, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); failed == nil {
			who = credentials{pid: int(c.Pid), uid: int(c.Uid)}
		}
	})
	if err = errors.Join(err, failed); err == nil && who.pid <= 0 {
		err = errors.New("it is in a container or namespace that the hub cannot see")
	}
	if err == nil {
		who.ended = func() (bool, error) { return hasEnded(raw) }
	}
	return who, err
}

// hasEnded reports whether the process that connected has ended, even if another process has its PID now. Kernels before 6.5
// cannot tell. There hasEnded returns false, and only the start time of the process shows whether it is another one.
func hasEnded(raw syscall.RawConn) (ended bool, err error) {
	var failed error
	err = raw.Control(func(fd uintptr) {
		var pidfd int
		pidfd, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if failed != nil {
			return
		}
		ended, failed = isReadable(pidfd)
		failed = errors.Join(failed, unix.Close(pidfd))
	})
	switch {
	case errors.Is(failed, unix.ENOPROTOOPT):
		return false, err
	case errors.Is(failed, unix.ESRCH), errors.Is(failed, unix.ENODATA), errors.Is(failed, unix.EINVAL):
		return true, err // its parent has already waited for it
	default:
		return ended, errors.Join(err, failed)
	}
}

// isReadable reports whether a file is readable. It repeats the system call if a signal has interrupted it.
func isReadable(fd int) (bool, error) {
	watched := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(watched, 0)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}

// processOf returns a process. It returns errEnded if there is no such process.
func processOf(pid int) (process, error) {
	stat, err := readStat(pid)
	return stat.process, err
}

// stat is what /proc says about a process.
type stat struct {
	process
	state    byte
	terminal int // the number of its controlling terminal; 0 if it has none
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return stat{}, errEnded
	}
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat reads a line of the form "pid (name) state parent …". A name can contain spaces and parentheses, so parseStat counts
// the fields from the last parenthesis.
func parseStat(text []byte) (s stat, err error) {
	const state, parent, session, terminal, started = 0, 1, 3, 4, 19 // indexes of the fields after the name
	end := bytes.LastIndexByte(text, ')')
	fields := bytes.Fields(text[end+1:])
	if end < 0 || len(fields) <= started {
		return s, fmt.Errorf("/proc has a line that cannot be read: %q", text)
	}
	s.state = fields[state][0]
	if s.parent, err = strconv.Atoi(string(fields[parent])); err != nil {
		return s, err
	}
	if s.session, err = strconv.Atoi(string(fields[session])); err != nil {
		return s, err
	}
	if s.terminal, err = strconv.Atoi(string(fields[terminal])); err != nil {
		return s, err
	}
	ticks, err := strconv.ParseInt(string(fields[started]), 10, 64)
	s.started = time.Duration(ticks) * tick
	return s, err
}

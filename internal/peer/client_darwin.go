package peer

import (
	"bytes"
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// programOf returns the program of a process, as far as the hub can see it.
func programOf(pid int) (p program) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return p
	}
	p.name = unix.ByteSliceToString(info.Proc.P_comm[:])
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		p.file, p.argv = parseArguments(raw)
	}
	return p
}

// parseArguments reads the number of arguments, the path of the executable, and the arguments. Zero bytes fill the space after the path.
func parseArguments(raw []byte) (file string, argv []string) {
	const size = 4
	if len(raw) < size {
		return "", nil
	}
	count := int(binary.LittleEndian.Uint32(raw))
	path, rest, _ := bytes.Cut(raw[size:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	parts := strings.SplitN(string(rest), "\x00", min(count, len(rest))+1)
	return string(path), parts[:max(0, min(count, len(parts)-1))]
}

// leadsSession reports whether a process leads its session. It also returns true if this is unknown.
func leadsSession(pid int) bool {
	session, err := unix.Getsid(pid)
	return err != nil || session == pid
}

// hasTerminal reports whether a process has a controlling terminal. It also returns true if this is unknown.
func hasTerminal(pid int) bool {
	const none = -1 // the device of the terminal of a process that has none
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil || info.Eproc.Tdev != none
}

// userOf returns the effective user of a process, or -1 if it is unknown.
func userOf(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return -1
	}
	return int(info.Eproc.Ucred.Uid)
}

// boot returns "", because start times of processes are on the clock of the wall.
func boot() string { return "" }

// lower returns false: this system has no limits that can serve as marks.
func (limits) lower(int) bool { return false }

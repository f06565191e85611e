package peer

import "golang.org/x/sys/unix"

// programOf returns the program of a process. On this system it knows only the name.
func programOf(pid int) (p program) {
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		p.name = unix.ByteSliceToString(info.Proc.P_comm[:])
	}
	return p
}

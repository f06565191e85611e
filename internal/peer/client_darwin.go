package peer

import "golang.org/x/sys/unix"

// describe says what a process runs: here its name alone.
func describe(pid int) (p program) {
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		p.name = unix.ByteSliceToString(info.Proc.P_comm[:])
	}
	return p
}

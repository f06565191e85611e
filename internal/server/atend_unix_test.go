//go:build unix

package server

import "golang.org/x/sys/unix"

// atEnd says whether the other end has closed a connection of which all was read.
func atEnd(fd uintptr) bool {
	n, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT) //nolint:gosec // it is a descriptor
	return err == nil && n == 0 || err != nil && err != unix.EAGAIN
}

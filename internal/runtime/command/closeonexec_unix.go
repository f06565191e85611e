//go:build unix

package command

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CloseFilesOnExec makes children not inherit the files that were open when this process started. They never inherit files that the
// process opens itself.
func CloseFilesOnExec() error {
	const firstOther = 3 // after stdin, stdout and stderr
	entries, err := os.ReadDir("/dev/fd")
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= firstOther {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

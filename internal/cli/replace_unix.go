//go:build unix

package cli

import (
	"os"
	"syscall"
)

// replaceProcess replaces this process by a program, which so gets its terminal and its signals.
func replaceProcess(program string, args []string) error {
	return os.NewSyscallError("exec "+program, syscall.Exec(program, append([]string{program}, args...), os.Environ()))
}

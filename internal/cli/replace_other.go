//go:build !unix

package cli

import (
	"os"
	"os/exec"
)

// replaceProcess runs a program in the place of this process.
func replaceProcess(program string, args []string) error {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

//go:build !unix

package cli

import "os/exec"

// detachProcess does nothing: a hub does not run on this system.
func detachProcess(*exec.Cmd) {}

//go:build !linux

package command

// EraseEnviron does nothing: other systems show the environment of a process to its user. Keep secrets in files.
func EraseEnviron() error { return nil }

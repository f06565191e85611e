//go:build !linux

package command

// ForgetEnviron does nothing: other systems show the environment of a process to its user. Keep secrets in files.
func ForgetEnviron() error { return nil }

//go:build unix

package command

import "syscall"

// ownSession makes a program the leader of a new session, and of a process group in it. A process in another session can never
// join the hub's process group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func termGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

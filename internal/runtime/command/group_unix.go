//go:build unix

package command

import "syscall"

// ownSession makes a program the leader of a session, and of a group in it. What is in another session can never join
// the hub's group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func termGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

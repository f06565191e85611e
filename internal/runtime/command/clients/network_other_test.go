//go:build clients && !linux

package clients

import "syscall"

const canIsolate = false

func ownNetwork() *syscall.SysProcAttr { return nil }

func loopbackUp() error { return nil }

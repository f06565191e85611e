package command

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// EraseEnviron erases the environment in /proc, where children, which run as the same user, could read it. os.Environ and
// os.Getenv still work, because they use copies. It also prevents children from reading the memory of this process, unless they
// are root. The caller must call it before the first run.
func EraseEnviron() error {
	from, size, err := environBlock()
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = memory.Close() }()
	if _, err := memory.WriteAt(make([]byte, size), from); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// environBlock returns the place of the initial environment in the memory of this process.
func environBlock() (from, size int64, err error) {
	const start, end = 47, 48 // in /proc/self/stat, counted from after the name
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= end {
		return 0, 0, fmt.Errorf("/proc/self/stat does not say where the environment is")
	}
	if from, err = strconv.ParseInt(string(fields[start]), 10, 64); err != nil {
		return 0, 0, err
	}
	to, err := strconv.ParseInt(string(fields[end]), 10, 64)
	if err == nil && to < from {
		err = fmt.Errorf("/proc/self/stat has an environment of %d bytes", to-from)
	}
	return from, to - from, err
}

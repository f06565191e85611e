package bridge

import (
	"io/fs"
	"syscall"
	"time"
)

// statusChange is when a file was last written, renamed or given other rights.
func statusChange(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(stat.Ctimespec.Unix())
}

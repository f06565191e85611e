package bridge

import (
	"io/fs"
	"syscall"
	"time"
)

// statusChange returns when a file was last written, renamed or given other permissions.
func statusChange(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(stat.Ctimespec.Unix())
}

//go:build unix

package home

import (
	"io/fs"
	"os"
	"syscall"
)

// mine says whether a file belongs to this user. To root everything does.
func mine(info fs.FileInfo) bool { return made(info) || os.Geteuid() == 0 }

// made says whether this user, and no other, has made a file.
func made(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

//go:build unix

package home

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser says whether a file belongs to this user. To root everything does.
func isOwnedByUser(info fs.FileInfo) bool { return isMadeByUser(info) || os.Geteuid() == 0 }

// isMadeByUser says whether this user, and no other, has made a file.
func isMadeByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

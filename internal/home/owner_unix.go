//go:build unix

package home

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether a file belongs to this user. For root, every file counts.
func isOwnedByUser(info fs.FileInfo) bool { return isMadeByUser(info) || os.Geteuid() == 0 }

// isMadeByUser reports whether this user is the owner of a file.
func isMadeByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hasOtherNames reports whether a file has more than one name (hard link).
func hasOtherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

//go:build unix

package connect

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether this user is the owner of a file. Root is not the owner of other users' files: a file that root
// replaces would belong to root.
func isOwnedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hasOtherNames reports whether a file has more than one name (hard link).
func hasOtherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

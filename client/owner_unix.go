//go:build unix

package client

import (
	"os"
	"syscall"
)

// sameOwner reports whether two directories exist and belong to the same user.
func sameOwner(dir, other string) bool {
	uid, known := ownerOf(dir)
	otherUID, otherKnown := ownerOf(other)
	return known && otherKnown && uid == otherUID
}

func ownerOf(dir string) (uid uint32, known bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return stat.Uid, true
}

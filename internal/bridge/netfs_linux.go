package bridge

import (
	"slices"
	"syscall"
)

// remoteTypes are the file systems that other machines may share, by the number that statfs returns. FUSE is in the list although
// it may be local: then the bridge only reports a dead watcher a little later.
var remoteTypes = []uint32{
	0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x5346414f, 0x00c36400, 0x0bd00bd0, 0x47504653, 0x73757245, 0x564c, 0x19830326, 0x65735546,
}

// isRemote reports whether processes of other machines may write into a directory.
func isRemote(dir string) bool {
	var info syscall.Statfs_t
	return syscall.Statfs(dir, &info) != nil || slices.Contains(remoteTypes, uint32(info.Type)) //nolint:gosec // its type depends on the system
}

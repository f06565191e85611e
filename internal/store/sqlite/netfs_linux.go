package sqlite

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// networkMagic names the file systems that are on another machine, by the number that statfs returns. A FUSE file system may be
// local or remote.
var networkMagic = map[uint32]string{
	0x6969: "nfs", 0x517b: "smb", 0xfe534d42: "smb2", 0xff534d42: "cifs", 0x01021997: "9p", 0x5346414f: "afs",
	0x00c36400: "ceph", 0x0bd00bd0: "lustre", 0x47504653: "gpfs", 0x73757245: "coda", 0x564c: "ncp", 0x19830326: "fhgfs",
}

const fuseMagic = 0x65735546

// networkFS returns the name of the network file system that holds a path, or "" if the file system is local or unknown.
func networkFS(path string) (string, error) {
	var info syscall.Statfs_t
	if err := syscall.Statfs(path, &info); err != nil {
		return "", fmt.Errorf("looking at the file system of %s: %w", path, err)
	}
	magic := uint32(info.Type)
	if magic != fuseMagic {
		return networkMagic[magic], nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", nil // the file system stays unknown
	}
	return networkFUSE(mountType(string(mounts), path)), nil
}

// mountType returns the file system type of the mount that holds a path, as mountinfo lists it.
func mountType(mountinfo, path string) (kind string) {
	longest := -1
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(types) == 0 {
			continue
		}
		point := unescapeMount.Replace(fields[4])
		under := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if under && len(point) >= longest {
			longest, kind = len(point), types[0]
		}
	}
	return kind
}

var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// networkFUSE returns the name of a FUSE file system that is known to be remote, or "".
func networkFUSE(kind string) string {
	for _, remote := range []string{"sshfs", "s3fs", "rclone", "glusterfs", "gcsfuse", "davfs", "curlftpfs", "juicefs", "cephfs", "goofys"} {
		if strings.Contains(kind, remote) {
			return remote
		}
	}
	return ""
}

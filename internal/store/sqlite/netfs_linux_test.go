package sqlite

import (
	"path/filepath"
	"testing"
)

const mounts = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /mnt/remote rw - fuse.sshfs host:/ rw
31 30 8:2 / /mnt/remote/local rw shared:2 master:3 - xfs /dev/sdb1 rw
32 22 0:32 / /mnt/with\040space\134and\011tab rw - fuse.rclone r: rw
33 22 0:33 / /twice rw - ext4 /dev/sdc1 rw
34 22 0:34 / /twice rw - fuse.gcsfuse bucket rw
malformed line
35 22 0:35 / /short
36 22 0:36 / /mnt/notype rw -
`

func TestMountTypeIsThatOfTheInnermostMount(t *testing.T) {
	for path, want := range map[string]string{
		"/":                           "ext4",
		"/home/user":                  "ext4",
		"/mnt/remote":                 "fuse.sshfs",
		"/mnt/remote/home":            "fuse.sshfs",
		"/mnt/remotely":               "ext4", // only its name begins alike
		"/mnt/remote/local/home":      "xfs",
		"/mnt/with space\\and\ttab/a": "fuse.rclone",
		"/twice/home":                 "fuse.gcsfuse", // the later one covers the earlier
		"/short/a":                    "ext4",
		"/mnt/notype":                 "ext4",
		"relative":                    "",
	} {
		if got := mountType(mounts, path); got != want {
			t.Errorf("%s is on %q, want %q", path, got, want)
		}
	}
	if got := mountType("", "/home"); got != "" {
		t.Errorf("without mounts: %q", got)
	}
}

func TestRemoteFUSEFileSystemsAreKnown(t *testing.T) {
	for kind, want := range map[string]string{
		"fuse.sshfs": "sshfs", "fuse.rclone": "rclone", "fuse.s3fs": "s3fs", "fuse.glusterfs": "glusterfs",
		"fuse.gcsfuse": "gcsfuse", "fuse.juicefs": "juicefs", "fuse.davfs2": "davfs",
		"fuseblk": "", "fuse.ntfs-3g": "", "fuse.bindfs": "", "fuse.gocryptfs": "", "": "",
	} {
		if got := networkFUSE(kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// The numbers are those of linux/magic.h.
func TestNetworkFileSystemsAreKnownByTheirNumber(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x01021997: "9p", 0x00c36400: "ceph", 0x517b: "smb",
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: "", fuseMagic: "", 0: "",
	} {
		if got := networkMagic[magic]; got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}

func TestFileSystemOfAPathThatIsNotThere(t *testing.T) {
	if kind, err := networkFS(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Errorf("it is on %q", kind)
	}
}

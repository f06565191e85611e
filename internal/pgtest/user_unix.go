//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged makes a process that of a user which the server agrees to run as, and gives it a
// directory. The process is apart from the terminal's, so that an interrupt does not reach it: it ends
// when its input does.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return attributes, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, bad := strconv.ParseUint(who.Uid, 10, 32)
	gid, worse := strconv.ParseUint(who.Gid, 10, 32)
	if err := errors.Join(bad, worse); err != nil {
		return nil, err
	}
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attributes, os.Chown(dir, int(uid), int(gid))
}

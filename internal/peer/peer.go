// Package peer tells who is at the other end of a unix socket. Agents run as the same user as the hub, so a
// user is not enough: what counts is from which process the caller descends.
package peer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

// credentials are what the system knows of the process that connected.
type credentials struct {
	pid, uid int
	// gone says whether that process has ended, and its number may be another's; nil where the system
	// cannot tell.
	gone func() (bool, error)
}

// process is one step of an ancestry.
type process struct {
	parent  int
	started time.Duration // on a clock of the system's own
	session int           // 0 where the system does not say
}

// errGone says that there is no such process.
var errGone = errors.New("the process is gone")

// Peer is who is at the other end.
type Peer struct {
	Origin
	// PID is the caller's process, also of one left behind; 0 if that is not certain.
	PID int

	version int64 // of the registry, when this was found out
}

// Owner says that the caller is the local owner: it descends from no agent.
func (p Peer) Owner() bool { return p.Origin == Origin{} }

// Identify finds who has connected. It must be called as soon as the connection is accepted: the ancestry of
// a process is only known while it lives. E001 for another user (Unauthenticated), for what descends from the
// hub and from no run that still goes on, and for a caller that cannot be judged.
func (r *Registry) Identify(conn net.Conn) (Peer, error) {
	accepted, err := now()
	if err != nil {
		return Peer{}, cannotJudge(err)
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return Peer{}, cannotJudge(fmt.Errorf("%T has no peer credentials", conn))
	}
	who, err := credentialsOf(socket)
	if err != nil {
		return Peer{}, cannotJudge(err)
	}
	if err := checkUser(who.uid); err != nil {
		return Peer{}, err
	}
	return r.judge(who, accepted)
}

// checkUser lets in the hub's own user, and root, who may do everything anyway.
func checkUser(uid int) error {
	own := os.Geteuid()
	if uid == own || uid == 0 {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "the socket is for user %d, not for user %d", own, uid).
		Because(parley.Unauthenticated).Suggest("use a token: set PARLEY_URL and PARLEY_TOKEN")
}

func (r *Registry) judge(who credentials, accepted time.Duration) (Peer, error) {
	first, err := look(who.pid)
	if err == nil && first.started > accepted {
		err = errGone // and its number is another's now
	}
	if err != nil {
		return Peer{}, cannotJudge(err)
	}
	version := r.version.Load()
	origin, err := r.Who(who.pid)
	if err == nil && who.gone != nil {
		var gone bool
		if gone, err = who.gone(); err == nil && gone {
			err = errGone
		}
	}
	if err != nil {
		return Peer{}, cannotJudge(err)
	}
	if origin.Left {
		return Peer{PID: who.pid}, errLeft(who.pid)
	}
	return Peer{origin, who.pid, version}, nil
}

// Still says why a caller is not any more who it was when it connected, or nil: the run it descends from may have
// ended since, or its client may have begun a session. E001.
func (r *Registry) Still(p Peer) error {
	if p.version == r.version.Load() {
		return nil // nothing has changed for anybody
	}
	origin, err := r.Who(p.PID)
	switch {
	case err != nil:
		return cannotJudge(err)
	case origin == p.Origin:
		return nil
	case origin.Left || origin.Agent == "":
		return errLeft(p.PID)
	default:
		return parley.Errorf(parley.NotPermitted, "process %d belongs to %s now, and did not when it connected", p.PID, origin.Agent).
			Because(parley.Unauthenticated).Suggest("connect again")
	}
}

func errLeft(pid int) error {
	return parley.Errorf(parley.NotPermitted, "process %d was started by a run that has ended, or by a run of another hub", pid).
		Because(parley.Unauthenticated).Suggest("use a token: set PARLEY_TOKEN")
}

func cannotJudge(err error) error {
	return parley.Errorf(parley.NotPermitted, "it cannot be told who is calling on the socket: %w", err).
		Because(parley.Unauthenticated).Suggest("use a token: set PARLEY_TOKEN")
}

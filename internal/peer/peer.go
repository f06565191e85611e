// Package peer identifies the process at the other end of a unix socket. Agents run as the same user as the hub, so the user
// proves nothing. The process from which the caller descends decides.
package peer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

// credentials are what the system reports about the process that connected.
type credentials struct {
	pid, uid int
	// gone reports whether that process has ended, so that another process may have its number. It is nil if the system cannot
	// tell.
	gone func() (bool, error)
}

// process is one process of an ancestry.
type process struct {
	parent  int
	started time.Duration // on a clock of the system
	session int           // 0 if the system does not report it
}

// errGone says that there is no such process.
var errGone = errors.New("the process is gone")

// Peer is the process at the other end of a socket.
type Peer struct {
	Origin
	// PID is the process of the caller, even if its run has ended; 0 if the process is not certain.
	PID int

	version int64 // of the registry, at the time of the check
}

// Owner reports whether the caller is the local owner: it descends from no agent.
func (p Peer) Owner() bool { return p.Origin == Origin{} }

// Identify finds the process at the other end of a connection. The caller must call it right after accepting the connection,
// because the ancestry of a process is known only while the process lives. It returns E001 for another user
// (Unauthenticated), for a process that a run left behind, and for a process that cannot be identified.
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

// checkUser accepts the user of the hub, and root, who may do everything anyway.
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
		err = errGone // another process has its number now
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

// Still returns nil while a caller belongs to the same agent and run as when it connected. It returns E001 if the run has
// ended since, or if the caller's client has opened a session meanwhile.
func (r *Registry) Still(p Peer) error {
	if p.version == r.version.Load() {
		return nil // the registry has not changed
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

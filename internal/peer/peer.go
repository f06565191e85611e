// Package peer identifies the participant at the other end of the hub's socket. Agents run as the same user as the hub, so the
// user of a process does not tell who calls. The package looks at the processes from which the calling process descends.
package peer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

// credentials is what the operating system reports about the process that connected.
type credentials struct {
	pid, uid int
	// ended reports whether that process has ended, so that another process may have its PID. It is nil if the system cannot tell.
	ended func() (bool, error)
}

// process is a process and what the package needs to know to find its ancestors.
type process struct {
	parent  int
	started time.Duration // its start time on a clock of the system
	session int           // its session; 0 if the system does not report it
}

// errEnded is the error if there is no such process.
var errEnded = errors.New("the process has ended")

// Peer is the process at the other end of a socket.
type Peer struct {
	Origin
	// PID is the process of the caller, even if its run has ended. It is 0 if the process could not be identified.
	PID int

	version int64 // the version of the registry at the time of the check
}

// Owner reports whether the caller is the local owner: its process does not descend from any agent.
func (p Peer) Owner() bool { return p.Origin == Origin{} }

// Identify identifies the caller at the other end of a connection. The hub must call it directly after it has accepted the
// connection, because it can find the ancestors of a process only while the process lives. Identify returns E001
// (Unauthenticated) for a process of another user, for a process that a run left behind, and for a process that it cannot
// identify.
func (r *Registry) Identify(conn net.Conn) (Peer, error) {
	accepted, err := now()
	if err != nil {
		return Peer{}, errUnidentified(err)
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return Peer{}, errUnidentified(fmt.Errorf("%T has no peer credentials", conn))
	}
	caller, err := credentialsOf(socket)
	if err != nil {
		return Peer{}, errUnidentified(err)
	}
	if err := checkUser(caller.uid); err != nil {
		return Peer{}, err
	}
	return r.checkProcess(caller, accepted)
}

// checkUser returns E001 unless the user is that of the hub, or root, which can do everything anyway.
func checkUser(uid int) error {
	own := os.Geteuid()
	if uid == own || uid == 0 {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "the socket is for user %d, not for user %d", own, uid).
		Because(parley.Unauthenticated).Suggest("use a token: set PARLEY_URL and PARLEY_TOKEN")
}

// checkProcess returns the peer for a connection that was accepted at a time. It returns an error if the process that connected
// has ended, because another process may have its PID.
func (r *Registry) checkProcess(caller credentials, accepted time.Duration) (Peer, error) {
	first, err := processOf(caller.pid)
	if err == nil && first.started > accepted {
		err = errEnded // another process has this PID now
	}
	if err != nil {
		return Peer{}, errUnidentified(err)
	}
	version := r.version.Load()
	origin, err := r.OriginOf(caller.pid)
	if err == nil && caller.ended != nil {
		var ended bool
		if ended, err = caller.ended(); err == nil && ended {
			err = errEnded
		}
	}
	if err != nil {
		return Peer{}, errUnidentified(err)
	}
	if origin.Leftover {
		return Peer{PID: caller.pid}, errLeftover(caller.pid)
	}
	return Peer{origin, caller.pid, version}, nil
}

// Recheck returns nil if a caller belongs to the same agent and run as when it connected. It returns E001 if the run has ended
// since, or if the caller's client has opened a session since.
func (r *Registry) Recheck(p Peer) error {
	if p.version == r.version.Load() {
		return nil // the registry has not changed
	}
	origin, err := r.OriginOf(p.PID)
	switch {
	case err != nil:
		return errUnidentified(err)
	case origin == p.Origin:
		return nil
	case origin.Leftover || origin.Agent == "":
		return errLeftover(p.PID)
	default:
		return parley.Errorf(parley.NotPermitted, "process %d belongs to %s now, but it did not when it connected", p.PID, origin.Agent).
			Because(parley.Unauthenticated).Suggest("connect again")
	}
}

func errLeftover(pid int) error {
	return parley.Errorf(parley.NotPermitted, "process %d was started by a run that has ended, by a client that has ended, or by one of another hub", pid).
		Because(parley.Unauthenticated).Suggest("use a token: set PARLEY_TOKEN")
}

func errUnidentified(err error) error {
	return parley.Errorf(parley.NotPermitted, "cannot identify the process that calls on the socket: %w", err).
		Because(parley.Unauthenticated).Suggest("use a token: set PARLEY_TOKEN")
}

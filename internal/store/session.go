package store

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// session runs the updates of the writer on one tx. It keeps the counters and the directory of agents of that tx in step with the
// transaction. It implements groupcommit.Session.
type session struct {
	*tx
	committed func(seq int64)
}

// newSession returns the session of the connection that writes.
func newSession(driver Driver, clock func(Conn) (int64, error), found *damages) session {
	return session{
		tx: &tx{
			damages:  found,
			conn:     driver.Writer(),
			explain:  driver.Explain,
			clock:    clock,
			locks:    driver.Locks(),
			text:     driver.Text(),
			own:      newDirectory(0),
			writable: true,
		},
		committed: driver.Committed,
	}
}

// Run implements groupcommit.Session.
func (s session) Run(fn func(storage.Tx) error) (err, broken error) {
	err = s.run(fn)
	return err, s.broken
}

// Save implements groupcommit.Session.
func (s session) Save() { s.saved = s.counters }

// Restore implements groupcommit.Session.
func (s session) Restore() {
	if s.counters.verChanged && s.counters.version != s.saved.version {
		s.own = newDirectory(s.saved.version)
	}
	s.counters = s.saved
}

// Forget implements groupcommit.Session. It discards the numbers that the transaction drew and the agents that it changed.
func (s session) Forget() {
	if s.counters.verChanged {
		s.own = newDirectory(0)
	}
	s.counters = counters{}
}

// Flush implements groupcommit.Session. It writes the version of the agents, the only counter that cannot be read from the rows.
// The counters stay loaded for Committed.
func (s session) Flush() error {
	s.broken = nil
	if !s.counters.verChanged {
		return nil
	}
	return s.write("UPDATE counters SET agents = $1", s.counters.version)
}

// Committed implements groupcommit.Session.
func (s session) Committed() {
	if s.counters.seqLoaded {
		s.committed(s.counters.seq)
	}
	s.counters = counters{}
}

// run runs fn, turns a panic into an error, and returns the error of a statement that failed even if fn returns nil.
func (t *tx) run(fn func(storage.Tx) error) (err error) {
	t.broken, t.lastConv, t.lastInbox, t.undelivered = nil, conversationKey{}, agentInbox{}, ""
	defer func() {
		if p := recover(); p != nil {
			err = parley.Errorf(parley.Internal, "the hub failed inside an update: %v", p).
				Suggest("report this; nothing was written")
			err = errors.Join(err, fmt.Errorf("%s", debug.Stack()))
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.broken
}

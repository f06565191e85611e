package storage

import "github.com/parley-hub/parley"

// SessionRow is a live client session as it is stored. Its id is the lease of everything that the session holds. The store keeps no
// Held.
type SessionRow struct {
	parley.Session
	ID    string      // a UUID
	Node  string      // the hub process that has its connections
	Until parley.Tick // the session has ended unless that process renews it before
}

// SessionStore keeps the client sessions that live. Lists are empty when nothing is found.
type SessionStore interface {
	// Insert adds a session. It returns ErrTaken if its id is in use, or if its participant has a session with this key. It returns
	// ErrNotFound if there is no such participant.
	Insert(SessionRow) error
	// Put replaces the kind, the client, how the session wakes it, its last sign, and until when the session lives. It returns
	// ErrNotFound if there is no session with this id.
	Put(SessionRow) error
	// Erase erases a session. It returns ErrNotFound if there is none.
	Erase(id string) error
	// Get returns the session of a participant with a key. It returns ErrNotFound if there is none.
	Get(agent, key string) (SessionRow, error)
	// List returns all sessions, the oldest first.
	List() ([]SessionRow, error)
	// CountHeld returns how many deliveries each lease holds, by its id. Leases that are not sessions are included.
	CountHeld() (map[string]int, error)
}

package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// TokenStore keeps credentials, each under the hash of its secret.
type TokenStore interface {
	// Insert adds a token. ErrTaken if its id or hash is in use, ErrNotFound if its holder or its maker does
	// not exist.
	Insert(parley.Token, parley.TokenHash) error
	// Find returns the token whose secret has this hash, good or not. ErrNotFound if there is none.
	Find(parley.TokenHash) (parley.Token, error)
	// Get returns the token with this id, good or not. ErrNotFound if there is none.
	Get(id string) (parley.Token, error)
	// List returns tokens by their ids, the newest first. Links are left out, and those of runs and approvals.
	List(parley.TokenFilter) ([]parley.Token, error)
	// Good counts the tokens, sessions and sign-in links of a participant that can be used at a time. ErrNotFound if there is
	// no such participant.
	CountUsable(agent string, now time.Time) (int, error)
	// Put writes down when a token was revoked; nothing else of it changes. ErrNotFound if there is none.
	Put(parley.Token) error
	// Erase erases a token. ErrNotFound if there is none.
	Erase(id string) error
	// Forget erases up to limit tokens of a kind that were revoked, or else expired, before a time, and says
	// how many.
	Forget(kind parley.TokenKind, before time.Time, limit int) (int, error)
}

package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// TokenStore keeps credentials, each under the hash of its secret.
type TokenStore interface {
	// Insert adds a token. It returns ErrTaken if its id or hash is in use, and ErrNotFound if its holder or its creator does not
	// exist.
	Insert(parley.Token, parley.TokenHash) error
	// Find returns the token whose secret has this hash, even if the token is revoked or expired. It returns ErrNotFound if there
	// is none.
	Find(parley.TokenHash) (parley.Token, error)
	// Get returns the token with this id, even if the token is revoked or expired. It returns ErrNotFound if there is none.
	Get(id string) (parley.Token, error)
	// List returns tokens in the order of their ids, the newest first. It leaves out sign-in links and the tokens of runs and
	// approvals. The list is empty if the agent of the filter does not exist.
	List(parley.TokenFilter) ([]parley.Token, error)
	// CountUsable counts the tokens, sessions and sign-in links of a participant that are neither revoked nor expired at now. It
	// returns ErrNotFound if there is no such participant.
	CountUsable(agent string, now time.Time) (int, error)
	// Put stores the RevokedAt of a token. It changes no other field. It returns ErrNotFound if there is none.
	Put(parley.Token) error
	// Erase erases a token. It returns ErrNotFound if there is none.
	Erase(id string) error
	// Forget erases up to limit tokens of a kind that were revoked before a time, or expired before it without being revoked. It
	// returns how many it erased.
	Forget(kind parley.TokenKind, before time.Time, limit int) (int, error)
}

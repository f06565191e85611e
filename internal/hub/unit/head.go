package unit

import (
	"github.com/parley-hub/parley"
)

// HeadKeeper keeps the head of the audit log outside the database, so that the log cannot be cut unnoticed.
type HeadKeeper interface {
	// Load returns what was saved last, or zeros.
	Load() (parley.AuditHead, error)
	// Save keeps a head in place of the one before it.
	Save(parley.AuditHead) error
}

package conversations

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new conversation.
func InsertRow(tx storage.Tx, c parley.Conversation) error {
	return tx.Conversations().Insert(c)
}

// SaveRow stores a changed conversation.
func SaveRow(tx storage.Tx, c parley.Conversation) error {
	return tx.Conversations().Update(c)
}

// SaveMember stores a membership and how far the member has read.
func SaveMember(tx storage.Tx, m parley.Member) error {
	return tx.Members().Put(m)
}

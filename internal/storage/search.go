package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// SearchStore keeps the search index. The index is filled after the messages are stored, in separate updates.
type SearchStore interface {
	// Mark returns how far the index has come.
	Mark() (IndexMark, error)
	// Index adds documents and moves the mark forward to upTo, in one step. If the mark is not from, Index writes nothing and
	// returns ErrTaken: another process has moved the mark, or something was erased that the documents may still contain.
	Index(from IndexMark, upTo int64, docs []parley.Document) error
	// Forget removes messages from the index. A message that is not in the index is no error. Searches no longer find their
	// words. The words have left the disk when Scrub reports that nothing is left to do.
	Forget(seqs ...int64) error
	// Scrub overwrites a part of what Forget has left on disk, and reports whether there may be more.
	Scrub() (more bool, err error)
	// Match returns messages that match a query, the newest first, at most Limit. It returns fewer if the messages are large, or
	// if it has looked at many candidates that the time, the reader or the answer exclude: see Matches.Rest. It returns
	// ErrNotFound if an agent or the conversation of the query does not exist.
	Match(SearchQuery) (Matches, error)
}

// IndexMark is how far the search index has come: the seq of the last message that was indexed, and how often something was
// erased from the index.
type IndexMark struct {
	Seq    int64
	Erased int64
}

// SearchQuery selects messages. An empty field matches all messages.
type SearchQuery struct {
	All, None []parley.Phrase // the message contains all phrases of All and none of None

	From, To     string // agents' ids. To matches the recipient and each mentioned agent
	Conversation string // the id of the conversation
	Type         parley.Type
	Task         string
	Trace        string    // in any spelling of the trace
	Before       time.Time // created before this time
	After        time.Time // created at this time or later
	Unanswered   bool      // the message has a delivery, and no message answers it

	Reader string // only conversations of this agent, and public channels
	Below  int64  // only messages with a smaller seq; 0: all
	Limit  int
}

// Matches are the messages that a search found, the newest first.
type Matches struct {
	Messages []parley.Message
	Rest     int64 // the search has not looked at messages below this seq; 0: it has looked at all
}

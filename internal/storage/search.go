package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// SearchStore keeps the search index. It is filled apart from the messages, and follows them.
type SearchStore interface {
	// Mark returns how far the index has come.
	Mark() (IndexMark, error)
	// Index adds documents and moves the mark to upTo, which lies ahead, in one step. ErrTaken, and
	// nothing is written, if the mark is not from any more: another process has gone on, or something
	// was erased that the documents may still hold.
	Index(from IndexMark, upTo int64, docs []parley.Document) error
	// Forget erases what the index has of messages; what it does not have is no error. Their words are
	// found no more, and are gone from the disk once Scrub has nothing left to do.
	Forget(seqs ...int64) error
	// Scrub does a part of what remains of the work of Forget, and says whether there may be more.
	Scrub() (more bool, err error)
	// Match returns messages of conversations that are not buried, the newest first: as many as the
	// limit says, or fewer where they are large or where many that match are sorted out by the time, the
	// reader or the answer. ErrNotFound if an agent or the conversation does not exist.
	Match(SearchQuery) (Matches, error)
}

// IndexMark is how far the search index has come: the seq of the last message looked at, and how often
// something was erased from the index.
type IndexMark struct {
	Seq    int64
	Erased int64
}

// SearchQuery selects messages. What is empty does not select.
type SearchQuery struct {
	All, None []parley.Phrase // all of these and none of those occur

	From, To     string // agents' ids; To holds for whom it is addressed to and whom it mentions
	Conversation string // its id
	Type         parley.Type
	Task         string
	Trace        string    // in any of its spellings
	Before       time.Time // created earlier
	After        time.Time // created then or later
	Unanswered   bool      // delivered to somebody, and no message answers it

	Reader string // only what this agent takes part in, and public channels
	Below  int64  // only with a smaller seq; 0: all
	Limit  int
}

// Matches are messages found, the newest first.
type Matches struct {
	Messages []parley.Message
	Rest     int64 // what is below this seq was not looked at; 0: there is nothing more
}

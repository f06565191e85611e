package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

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

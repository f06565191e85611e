package parley

import "time"

// Document is a message as the search index keeps it.
type Document struct {
	Message Message
	// To are those whom the message is addressed to.
	To []string
	// Words are the words of the message in their order. An empty one is a gap that no phrase goes across.
	Words []string
	// Loose are further words, each found by itself only.
	Loose []string
}

// IndexMark is how far the search index has come: the seq of the last message looked at, and how often
// something was erased from the index.
type IndexMark struct {
	Seq    int64
	Erased int64
}

// Phrase is words that follow each other. With Prefix the last of them need only begin as written.
type Phrase struct {
	Words  []string
	Prefix bool
}

// SearchQuery selects messages. What is empty does not select.
type SearchQuery struct {
	All, None []Phrase // all of these and none of those occur

	From, To     string // agents' ids; To holds for whom it is addressed to and whom it mentions
	Conversation string // its id
	Type         Type
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
	Messages []Message
	Rest     int64 // what is below this seq was not looked at; 0: there is nothing more
}

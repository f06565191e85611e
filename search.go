package parley

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

// Phrase is words that follow each other. With Prefix the last of them need only begin as written.
type Phrase struct {
	Words  []string
	Prefix bool
}

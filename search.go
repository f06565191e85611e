package parley

// Document is a message as the search index keeps it.
type Document struct {
	Message Message
	// To are the addressees of the message.
	To []string
	// Words are the words of the message in order. An empty word is a gap that no phrase crosses.
	Words []string
	// Loose are further words, which only match by themselves.
	Loose []string
}

// Phrase is a sequence of words. With Prefix, the last word matches every word that begins with it.
type Phrase struct {
	Words  []string
	Prefix bool
}

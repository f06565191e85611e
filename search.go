package parley

// Document is a message as the search index keeps it.
type Document struct {
	Message Message
	// To lists the addressees of the message.
	To []string
	// Words lists the words of the message in order. An empty word is a gap: no phrase matches across it.
	Words []string
	// Loose lists further words, which match by themselves but not as part of a phrase.
	Loose []string
}

// Phrase is a sequence of words. With Prefix, the last word matches every word that begins with it.
type Phrase struct {
	Words  []string
	Prefix bool
}

package unit

import (
	"github.com/parley-hub/parley"
)

// Brought are the messages whose content a call returns.
type Brought struct {
	Callback string         // which is settled, so that its recipient gets the outcome once
	Answers  []string       // ids; one may be empty
	Failed   parley.Message // without an answer: the outcome says what the hub has told its sender
}

// ShortestNumberedPiece is the length from which on digits alone may be a piece of an id.
const ShortestNumberedPiece = 6

// Shortened keeps what a caller sent from filling an error.
func Shortened(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return text
}

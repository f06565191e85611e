package unit

import (
	"strings"
)

const maxReason = 4 << 10

// Storable is a text from whatever has failed, without what cannot be stored of it.
func Storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxReason)], "\x00", ""), "")
}

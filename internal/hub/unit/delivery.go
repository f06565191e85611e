package unit

import (
	"strings"
)

// MissingStop is a full stop if the text does not end with one.
func MissingStop(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "…") {
		return ""
	}
	return "."
}

package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxNameLength = 200  // of a file name, so that an ending still fits
	maxLineLength = 1000 // of a log line
	timeFormat    = "2006-01-02T15:04:05.000Z"
)

// isPlain reports whether a name can be shown and stored as it is.
func isPlain(name string) bool {
	return len(name) <= maxNameLength && utf8.ValidString(name) && !strings.ContainsFunc(name, hidden)
}

// hidden reports whether a character would change how a line looks.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// shownAs returns a character as a line shows it: a space for a hidden one.
func shownAs(r rune) rune {
	if hidden(r) {
		return ' '
	}
	return r
}

func checkPlain(name string) error {
	if !isPlain(name) {
		return errRefused("the name of the file is too long, or has characters that cannot be shown: %q", name).Suggest("give it a short name of letters and digits")
	}
	return nil
}

// safeName returns a name under which a refused file is kept.
func safeName(name string) string {
	if isPlain(name) {
		return name
	}
	return "unnamed-" + digest([]byte(name))[:16] + ".json"
}

// oneLine turns any text into one line of limited length.
func oneLine(s string) string {
	s = strings.Map(shownAs, strings.ToValidUTF8(s, "?"))
	s = strings.TrimSpace(s)
	if len(s) > maxLineLength {
		s = strings.ToValidUTF8(s[:maxLineLength], "") + "…"
	}
	return s
}

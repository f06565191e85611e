// Package plain makes the text of others harmless for a terminal: the text cannot move the cursor, change a colour,
// reorder text or hide text.
package plain

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many accents one letter may have. No language needs more, and more would cover the lines above.
const maxMarks = 8

// Text replaces everything that is not printable, except line ends. Tabs become spaces.
func Text(s string) string { return clean(s, "\n") }

// Line is Text on one line.
func Line(s string) string { return clean(s, " ") }

// JSON writes unprintable characters of a JSON text as escapes with the same meaning. Encoders leave some of them
// unescaped.
func JSON(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, unprintable) {
		return raw
	}
	var out bytes.Buffer
	for _, r := range string(raw) {
		if !unprintable(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.Bytes()
}

// unprintable reports whether a terminal would show a character as something else. A line end in JSON is between
// values, so it is printable.
func unprintable(r rune) bool { return r != '\n' && r != utf8.RuneError && visibleRune(r) != r }

func clean(s, newline string) string {
	if printable(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	marks := 0
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else if marks++; marks > maxMarks {
			continue
		}
		switch r {
		case '\n', '\u0085', '\u2028', '\u2029':
			out.WriteString(newline)
		case '\t':
			out.WriteString("    ")
		default:
			out.WriteRune(visibleRune(r))
		}
	}
	return out.String()
}

// printable reports whether a text needs no change, as most texts do.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// visibleRune returns the character to show: the character itself, or a picture of a control character.
func visibleRune(r rune) rune {
	const pictures, picturedDelete = '\u2400', '\u2421'
	switch {
	case r < ' ':
		return pictures + r
	case r == 0x7f:
		return picturedDelete
	case r == '\u200c', r == '\u200d': // part of words in some scripts, and of emoji
		return r
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Other_Default_Ignorable_Code_Point):
		return utf8.RuneError
	default:
		return r
	}
}

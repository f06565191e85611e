// Package plain makes text from participants safe to print on a terminal. The result cannot move the cursor, change a colour,
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

// maxMarks is the largest number of accents on one letter. No language needs more, and more accents would cover the lines above.
const maxMarks = 8

// Text returns a text without unprintable characters. It keeps line ends, replaces tabs with spaces, and replaces or removes
// other unprintable characters.
func Text(s string) string { return clean(s, "\n") }

// Line does what Text does, and replaces line ends with spaces.
func Line(s string) string { return clean(s, " ") }

// JSON returns a JSON text with unprintable characters as escapes. The escapes have the same meaning. Encoders leave some of
// these characters unescaped.
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

// unprintable reports whether JSON must escape a character. A line end is always between values of a JSON text, so it needs no
// escape.
func unprintable(r rune) bool { return r != '\n' && r != utf8.RuneError && visibleRune(r) != r }

// clean replaces the unprintable characters of a text, and each line end with newline.
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

// visibleRune returns the character to show: the character itself, the picture of a control character, or the replacement
// character.
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

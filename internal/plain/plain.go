// Package plain makes text of strangers harmless for a terminal: what it prints moves no cursor, changes
// no colour, reorders nothing, and hides nothing.
package plain

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many accents one letter may carry. No language needs more, and a tower of them runs
// over the lines above.
const maxMarks = 8

// Text keeps lines apart and makes everything else printable. Tabs become spaces.
func Text(s string) string { return clean(s, "\n") }

// Line is Text in one line.
func Line(s string) string { return clean(s, " ") }

// JSON writes what is not printable in a JSON text as escapes, which mean the same. Encoders leave some of
// it as it is.
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

// unprintable holds for what would be shown as something else. Line ends are those between values.
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

// printable holds for most text, of which nothing must be changed.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// visibleRune is what stands for a character: itself, or a picture of what it would have done.
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

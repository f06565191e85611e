// Package quote shows models and people what participants wrote, so that it cannot be mistaken for anything else.
//
// Every line that a participant had a hand in begins with "| ", and every other place that shows a word of
// theirs has it in quotation marks with escapes. So no text can forge the end of its envelope or a heading,
// which never begin so. Line ends of every sort are made one, and what nobody can see is dropped: models
// read it all the same.
//
// The hub's own messages repeat what participants wrote: results, reasons, notes. There a second mark, "| | ", and a line
// that says who wrote it set these words apart from the hub's. What the hub has not marked as its own has both marks.
package quote

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	prefix    = "| "
	maxInline = 200 // characters of foreign text shown within a line
)

// Clean is a text with one sort of line end and without what nobody can see.
func Clean(s string) string {
	return strings.Map(clean, strings.ReplaceAll(s, "\r\n", "\n"))
}

func clean(r rune) rune {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return '\n'
	case '\t', '\u200c', '\u200d': // the joiners are part of words in some scripts, and of emoji
		return r
	default:
		if isInvisible(r) {
			return -1
		}
		return r
	}
}

// isInvisible holds for control and format characters, and for those that a text can be smuggled in.
func isInvisible(r rune) bool {
	const firstSelector, lastSelector = '\U000e0100', '\U000e01ef'
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) ||
		r >= firstSelector && r <= lastSelector
}

// Block is a text in lines of its own. An empty text has none.
func Block(s string) string { return block(Clean(s), 1) }

// Short is a text in lines of its own of about so many bytes at most, as Block is for all of it: what is left out is
// left out in the middle, and said.
func Short(s string, most int) string { return shorten(Clean(s), 1, most) }

// block puts so many marks before each line of a clean text.
func block(cleaned string, marks int) string {
	if cleaned == "" {
		return ""
	}
	var out strings.Builder
	out.Grow(blockSize(cleaned, marks))
	full := strings.Repeat(prefix, marks)
	bare := strings.TrimSuffix(full, " ")
	for line := range strings.SplitSeq(cleaned, "\n") {
		if line == "" && marks > 0 {
			out.WriteString(bare + "\n")
			continue
		}
		out.WriteString(full + line + "\n")
	}
	return out.String()
}

// Inline is a foreign text within a line: shortened, in quotation marks, with escapes.
func Inline(s string) string {
	if utf8.RuneCountInString(s) > maxInline {
		s = string([]rune(s)[:maxInline]) + "…"
	}
	return strconv.Quote(s)
}

// Word is an identifier as it is, if it is one.
func Word(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	})
	if plain {
		return s
	}
	return Inline(s)
}

// blockSize is how many bytes the block of a clean text has, or a little less.
func blockSize(cleaned string, marks int) int {
	return len(cleaned) + marks*len(prefix)*(strings.Count(cleaned, "\n")+1)
}

// shorten leaves out the middle of a clean text.
func shorten(s string, marks, most int) string {
	if blockSize(s, marks) <= most {
		return block(s, marks)
	}
	first := head(s, marks, most/2)
	last := tail(s[len(first):], marks, most/2)
	return block(first, marks) + fmt.Sprintf("(%d bytes left out)\n", len(s)-len(first)-len(last)) + block(last, marks)
}

// head is the longest beginning of a clean text with a block of at most so many bytes.
func head(s string, marks, most int) string {
	for i, r := range s {
		if most -= runeSize(r, marks); most < 0 {
			return s[:i]
		}
	}
	return s
}

// tail is the longest end of a clean text with a block of at most so many bytes.
func tail(s string, marks, most int) string {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if most -= runeSize(r, marks); most < 0 {
			return s[i:]
		}
		i -= size
	}
	return s
}

func runeSize(r rune, marks int) int {
	if r == '\n' {
		return 1 + marks*len(prefix)
	}
	return utf8.RuneLen(r)
}

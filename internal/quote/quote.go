// Package quote shows models and people what participants wrote, so that they cannot mistake it for anything else.
//
// Every line with words of a participant begins with "| ". Everywhere else, words of participants are in quotation
// marks with escapes. So no text can forge the end of its envelope or a heading, which never begin like that. The
// package turns all sorts of line ends into one, and drops invisible characters, because models read them.
//
// The hub's own messages repeat what participants wrote: results, reasons, notes. A second mark, "| | ", and a line
// that names the writer separate these words from those of the hub. Text that the hub has not marked as its own has
// both marks.
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
	maxInline = 200 // characters of a text of others within a line
)

// Clean returns a text with one sort of line end and without invisible characters.
func Clean(s string) string {
	return strings.Map(cleanRune, strings.ReplaceAll(s, "\r\n", "\n"))
}

func cleanRune(r rune) rune {
	if r >= ' ' && r <= '~' { // most are, and to look a character up takes long
		return r
	}
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

// isInvisible reports whether a character is a control or format character, or one that can hide text.
func isInvisible(r rune) bool {
	const firstSelector, lastSelector = '\U000e0100', '\U000e01ef'
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) ||
		r >= firstSelector && r <= lastSelector
}

// Block returns a text as quoted lines. An empty text has no lines.
func Block(s string) string { return markLines(Clean(s), 1) }

// ShortBlock is Block with about limit bytes. It says how much it left out in the middle.
func ShortBlock(s string, limit int) string { return shorten(Clean(s), 1, limit) }

// markLines puts marks before each line of a clean text.
func markLines(cleaned string, marks int) string {
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

// Inline returns a text of others for use within a line: shortened, in quotation marks, with escapes.
func Inline(s string) string {
	if utf8.RuneCountInString(s) > maxInline {
		s = string([]rune(s)[:maxInline]) + "…"
	}
	return strconv.Quote(s)
}

// Word returns an identifier unchanged, and any other text as Inline does.
func Word(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	})
	if plain {
		return s
	}
	return Inline(s)
}

// blockSize returns the size of a block in bytes, or a little less.
func blockSize(cleaned string, marks int) int {
	return len(cleaned) + marks*len(prefix)*(strings.Count(cleaned, "\n")+1)
}

// shorten leaves out the middle of a clean text.
func shorten(s string, marks, limit int) string {
	if blockSize(s, marks) <= limit {
		return markLines(s, marks)
	}
	first := head(s, marks, limit/2)
	last := tail(s[len(first):], marks, limit/2)
	return markLines(first, marks) + fmt.Sprintf("(%d bytes left out)\n", len(s)-len(first)-len(last)) + markLines(last, marks)
}

// head returns the longest beginning of a clean text whose block has at most limit bytes.
func head(s string, marks, limit int) string {
	for i, r := range s {
		if limit -= runeSize(r, marks); limit < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest end of a clean text whose block has at most limit bytes.
func tail(s string, marks, limit int) string {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if limit -= runeSize(r, marks); limit < 0 {
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

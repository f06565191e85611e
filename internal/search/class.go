package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is what a character is to the tokenizer.
type class int

const (
	apart   class = iota // between words
	letters              // letters and digits
	dense                // of a script written without spaces, or with few
	sign                 // an emoji or the like, a word by itself
	compat               // no letter, but stands for some, as ™ does: apart from its neighbours
	mark                 // belongs to the character before it
	unseen               // does not count at all
)

// joins says whether neighbours of this class can be of one word.
func (c class) joins() bool { return c == apart || c == letters || c == dense }

// unspaced are the scripts whose texts are indexed in pairs of characters. Korean has spaces, but its
// words change their ends.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return letters
		}
		return apart
	}
	switch {
	case plainHan(r):
		return dense
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return unseen
	case r == '\u0345': // the iota below, a mark that folding makes a letter
		return letters
	case unicode.IsMark(r) || r == 'ﾞ' || r == 'ﾟ': // halfwidth ones are letters to Unicode
		return mark
	case r == 'ー' || r == 'ｰ': // of no script to Unicode
		return dense
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		if unicode.In(r, unspaced...) {
			return dense
		}
		return letters
	default:
		return symbolClass(r)
	}
}

// signs are the blocks that emoji are in. The lines and boxes of tables and trees are in others.
var signs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x2300, 0x23FF, 1}, {0x2600, 0x27BF, 1}, {0x2B00, 0x2BFF, 1}},
	R32: []unicode.Range32{{0x1F000, 0x1FAFF, 1}},
}

func symbolClass(r rune) class {
	if unicode.Is(unicode.So, r) && unicode.Is(signs, r) {
		return sign
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	if norm.NFKC.Properties(buf[:n]).Decomposition() == nil {
		return apart
	}
	for _, d := range norm.NFKC.String(string(r)) {
		if unicode.IsLetter(d) || unicode.IsNumber(d) {
			return compat
		}
	}
	return apart
}

// plainHan holds for the common Chinese characters: neither folding nor normalizing changes them.
func plainHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FA5 }

// inert says that folding leaves a text as it is, for what that is quick to see of.
func inert(s string) bool {
	for _, r := range s {
		small := 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
		if !small && !plainHan(r) {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

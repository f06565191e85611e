package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is a class of characters that the tokenizer treats alike.
type class int

const (
	separator      class = iota // between words
	letters                     // a letter or digit
	unspacedScript              // a character of a script written with few or no spaces
	sign                        // an emoji or similar symbol: a word by itself
	compat                      // a symbol that folding turns into letters, like ™; it does not join its neighbours
	mark                        // an accent or similar, part of the character before it
	ignorable                   // invisible: the tokenizer skips it
)

// joins reports whether neighbouring characters of this class stay in one segment.
func (c class) joins() bool { return c == separator || c == letters || c == unspacedScript }

// unspacedScripts are the scripts whose texts the tokenizer splits into pairs of characters. Korean is among them: it has spaces,
// but its words change their endings.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// classOf returns the class of a character.
func classOf(r rune) class {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return letters
		}
		return separator
	}
	switch {
	case plainHan(r):
		return unspacedScript
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return ignorable
	case r == '\u0345': // iota subscript, a mark that folding turns into a letter
		return letters
	case unicode.IsMark(r) || r == 'ﾞ' || r == 'ﾟ': // Unicode says that halfwidth marks are letters
		return mark
	case r == 'ー' || r == 'ｰ': // Unicode assigns them to no script
		return unspacedScript
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		if unicode.In(r, unspacedScripts...) {
			return unspacedScript
		}
		return letters
	default:
		return symbolClass(r)
	}
}

// signs are the Unicode blocks that contain emoji. The lines and boxes of tables and trees are in other blocks.
var signs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x2300, 0x23FF, 1}, {0x2600, 0x27BF, 1}, {0x2B00, 0x2BFF, 1}},
	R32: []unicode.Range32{{0x1F000, 0x1FAFF, 1}},
}

// symbolClass returns the class of a character that is no letter, number or mark.
func symbolClass(r rune) class {
	if unicode.Is(unicode.So, r) && unicode.Is(signs, r) {
		return sign
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	if norm.NFKC.Properties(buf[:n]).Decomposition() == nil {
		return separator
	}
	for _, d := range norm.NFKC.String(string(r)) {
		if unicode.IsLetter(d) || unicode.IsNumber(d) {
			return compat
		}
	}
	return separator
}

// plainHan reports whether a character is a common Chinese one: neither folding nor normalization changes it.
func plainHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FA5 }

// unchangedByFolding reports whether a text contains only characters that folding is known not to change. If it returns false,
// folding may change the text. The check is cheaper than folding, and most texts need no folding.
func unchangedByFolding(s string) bool {
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

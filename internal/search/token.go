package search

import (
	"iter"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

const (
	maxRunes = 64 // of one word; what is longer becomes several words in a row
	maxMarks = 8  // on one character; what follows is not part of any word
)

// Token is one word of a text.
type Token struct {
	Word       string // folded as names are
	Start, End int    // where it stands in the text, in bytes
	// Single says that this is one of several characters written without spaces, by itself, beside the pairs
	// it is in. It can be found and is part of no phrase.
	Single bool
}

// Tokens are the words of a text. Letters and digits that stand together are one word. Scripts written
// without spaces give every pair of neighbouring characters, and each character; emoji are words.
// So foo_bar.go is three words in a row, and a query for the whole, split alike, is their phrase.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		s := splitter{text: text, yield: yield}
		start, current := 0, apart
		for at, r := range text {
			c := classOf(r)
			if (c == mark || c == unseen) && current != apart || c == current && c.joins() {
				continue
			}
			if !s.segment(start, at, current) {
				return
			}
			if start, current = at, c; c == mark || c == unseen {
				current = apart
			}
		}
		s.segment(start, len(text), current)
	}
}

// splitter emits the words of one text until nobody wants more.
type splitter struct {
	text  string
	yield func(Token) bool
}

// segment emits the words of a part of the text whose characters are of one class. It is folded, and what
// came out is looked at again: one character may have become several, of other classes.
func (s splitter) segment(start, end int, c class) bool {
	if c == apart {
		return true
	}
	raw := s.text[start:end]
	folded := raw
	if !inert(raw) {
		folded = parley.Fold(raw)
	}
	// What kept its length character by character can be pointed at; else only the whole can.
	place := func(from, to int) (int, int) { return start, end }
	if folded == raw || isASCII(raw) {
		place = func(from, to int) (int, int) { return start + from, start + to }
	}
	from, current, marks := 0, apart, 0
	for at, r := range folded {
		c := classOf(r)
		switch {
		case c != mark:
			marks = 0
		case current != apart && marks < maxMarks:
			marks++
			continue
		default:
			c = apart
		}
		if c == current && c.joins() {
			continue
		}
		if !s.run(folded, from, at, current, place) {
			return false
		}
		from, current = at, c
	}
	return s.run(folded, from, len(folded), current, place)
}

// run emits the words of characters that belong together.
func (s splitter) run(folded string, from, to int, c class, place func(int, int) (int, int)) bool {
	emit := func(from, to int, single bool) bool {
		start, end := place(from, to)
		return s.yield(Token{folded[from:to], start, end, single})
	}
	switch c {
	case dense:
		return pairs(folded[:to], from, emit)
	case letters, sign:
		return chunks(folded[:to], from, emit)
	default:
		return true
	}
}

// pairs emits every two neighbouring characters, each with its marks, and each of them by itself.
func pairs(s string, from int, emit func(from, to int, single bool) bool) bool {
	second := nextCharacter(s, from)
	if second == len(s) {
		return emit(from, second, false)
	}
	for second < len(s) {
		third := nextCharacter(s, second)
		if !emit(from, third, false) || !emit(from, second, true) {
			return false
		}
		from, second = second, third
	}
	return emit(from, second, true)
}

// chunks emits a word, in parts where it is too long.
func chunks(s string, from int, emit func(from, to int, single bool) bool) bool {
	runes := 0
	for at := from; at < len(s); {
		next := nextCharacter(s, at)
		if runes >= maxRunes {
			if !emit(from, at, false) {
				return false
			}
			from, runes = at, 0
		}
		runes += utf8.RuneCountInString(s[at:next])
		at = next
	}
	return emit(from, len(s), false)
}

// nextCharacter is where the character at a place ends, with its marks.
func nextCharacter(s string, at int) int {
	_, size := utf8.DecodeRuneInString(s[at:])
	at += size
	for at < len(s) && s[at] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[at:])
		if classOf(r) != mark {
			break
		}
		at += size
	}
	return at
}

// words are those of a text, without single characters of pairs.
func words(text string) (list []string) {
	for t := range Tokens(text) {
		if !t.Single {
			list = append(list, t.Word)
		}
	}
	return list
}

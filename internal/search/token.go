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
	// Last says that this is the last of them, by itself, in a place behind the pairs: a phrase can begin with
	// it, as 章 3 is in 文章 3.
	Last bool
}

// Tokens are the words of a text. Letters and digits that stand together are one word. Scripts written
// without spaces give every pair of neighbouring characters, and each character; emoji are words.
// So foo_bar.go is three words in a row, and a query for the whole, split alike, is their phrase.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		s := &splitter{text: text, yield: yield}
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

// splitter emits the words of one text until nobody wants more. It looks at one segment at a time.
type splitter struct {
	text       string
	yield      func(Token) bool
	start, end int    // the segment
	folded     string // the same folded
	exact      bool   // folding has kept every character in its place
}

// segment emits the words of a part of the text whose characters are of one class. It is folded, and what
// came out is looked at again: one character may have become several, of other classes.
func (s *splitter) segment(start, end int, c class) bool {
	if c == apart {
		return true
	}
	raw := s.text[start:end]
	plain := isASCII(raw)
	s.start, s.end, s.folded = start, end, raw
	if !inert(raw) {
		s.folded = parley.Fold(raw)
	}
	s.exact = plain || s.folded == raw
	if plain {
		return s.chunks(0, len(raw))
	}
	from, current, marks := 0, apart, 0
	for at, r := range s.folded {
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
		if !s.run(from, at, current) {
			return false
		}
		from, current = at, c
	}
	return s.run(from, len(s.folded), current)
}

// run emits the words of characters that belong together.
func (s *splitter) run(from, to int, c class) bool {
	switch c {
	case dense:
		return s.pairs(from, to)
	case letters, sign:
		return s.chunks(from, to)
	default:
		return true
	}
}

// token is a part of what was folded. Where that is not in its place, only the whole can be pointed at.
func (s *splitter) token(from, to int) Token {
	t := Token{Word: s.folded[from:to], Start: s.start, End: s.end}
	if s.exact {
		t.Start, t.End = s.start+from, s.start+to
	}
	return t
}

// pairs emits every two neighbouring characters, each with its marks, and each of them by itself.
func (s *splitter) pairs(from, to int) bool {
	run := s.folded[:to]
	second := nextCharacter(run, from)
	if second == to {
		return s.yield(s.token(from, second))
	}
	for second < to {
		third := nextCharacter(run, second)
		single := s.token(from, second)
		single.Single = true
		if !s.yield(s.token(from, third)) || !s.yield(single) {
			return false
		}
		from, second = second, third
	}
	last := s.token(from, second)
	last.Last = true
	return s.yield(last)
}

// chunks emits a word, in parts where it is too long.
func (s *splitter) chunks(from, to int) bool {
	if to-from <= maxRunes {
		return s.yield(s.token(from, to))
	}
	run, runes := s.folded[:to], 0
	for at := from; at < to; {
		next := nextCharacter(run, at)
		if runes >= maxRunes {
			if !s.yield(s.token(from, at)) {
				return false
			}
			from, runes = at, 0
		}
		runes += utf8.RuneCountInString(run[at:next])
		at = next
	}
	return s.yield(s.token(from, to))
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

// words are those to look for where a text is to be found, which may go on: without single characters, and
// without the last of a run at its end.
func words(text string) (list []string) {
	last := false
	for t := range Tokens(text) {
		if !t.Single {
			list, last = append(list, t.Word), t.Last
		}
	}
	if last {
		list = list[:len(list)-1]
	}
	return list
}

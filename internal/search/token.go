package search

import (
	"iter"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

const (
	maxRunes = 64 // characters of one word; a longer word becomes several words
	maxMarks = 8  // accents on one character; the tokenizer skips further ones
)

// Token is one word of a text.
type Token struct {
	Word       string // folded as names are
	Start, End int    // the position of the word in the text, in bytes
	// Single marks one character of an unspaced script that is also part of a pair. A search can find it by itself, but not as
	// part of a phrase.
	Single bool
	// Last marks the last character of such a script in a row, which follows the pairs. A phrase can begin with it: 文章 3 contains
	// the phrase 章 3.
	Last bool
}

// Tokens returns the words of a text. Adjacent letters and digits make one word. A script written without spaces makes a word of
// every pair of neighbouring characters, and of each character. Each emoji is a word. So foo_bar.go is three words, and a query
// for foo_bar.go becomes the phrase of these three.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		s := &splitter{text: text, yield: yield}
		start, current := 0, separator
		for at, r := range text {
			c := classOf(r)
			if (c == mark || c == ignorable) && current != separator || c == current && c.joins() {
				continue
			}
			if !s.segment(start, at, current) {
				return
			}
			if start, current = at, c; c == mark || c == ignorable {
				current = separator
			}
		}
		s.segment(start, len(text), current)
	}
}

// splitter passes the words of one text to yield, until yield returns false. It handles one segment of the text at a time.
type splitter struct {
	text       string
	yield      func(Token) bool
	start, end int    // the position of the segment in the text
	folded     string // the folded segment
	exact      bool   // positions in folded are positions in the segment
}

// segment emits the words of a part of the text whose characters have one class. It folds the part and splits the result again,
// because folding can turn one character into several of other classes. It returns false if yield wants no more words.
func (s *splitter) segment(start, end int, c class) bool {
	if c == separator {
		return true
	}
	raw := s.text[start:end]
	plain := isASCII(raw)
	s.start, s.end, s.folded = start, end, raw
	if !unchangedByFolding(raw) {
		s.folded = parley.Fold(raw)
	}
	s.exact = plain || s.folded == raw
	if plain {
		return s.chunks(0, len(raw))
	}
	from, current, marks := 0, separator, 0
	for at, r := range s.folded {
		c := classOf(r)
		switch {
		case c != mark:
			marks = 0
		case current != separator && marks < maxMarks:
			marks++
			continue
		default:
			c = separator
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

// run emits the words of adjacent folded characters of one class.
func (s *splitter) run(from, to int, c class) bool {
	switch c {
	case unspacedScript:
		return s.pairs(from, to)
	case letters, sign:
		return s.chunks(from, to)
	default:
		return true
	}
}

// token returns a part of the folded segment as a word. If folding moved characters, its position is that of the whole segment.
func (s *splitter) token(from, to int) Token {
	t := Token{Word: s.folded[from:to], Start: s.start, End: s.end}
	if s.exact {
		t.Start, t.End = s.start+from, s.start+to
	}
	return t
}

// pairs emits every pair of neighbouring characters, and each character by itself. A character includes its marks.
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

// chunks emits a word, in several parts if it is longer than maxRunes.
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

// nextCharacter returns the end of the character at a position. The marks after a character are part of it.
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

// words returns the words that a message must contain if a search for the text is to find it. It leaves out words with Single
// set. It also leaves out a word with Last set at the end, because in the message further characters may follow.
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

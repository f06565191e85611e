package search

import (
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

const (
	snippetRunes = 240 // characters of a snippet
	snippetLead  = 60  // characters of it before the first match
)

// NewSnippet returns the part of a message in which the most different phrases occur, or the beginning of the message if no
// phrase occurs. It returns a zero value if the message has no searchable parts.
func NewSnippet(phrases []parley.Phrase, m parley.Message) parley.Snippet {
	fields := Fields(m)
	if len(fields) == 0 {
		return parley.Snippet{}
	}
	matches, field, most := []span(nil), fields[0], 0
	for _, f := range fields {
		if spans, n := densest(phrases, f.Text); n > most {
			matches, field, most = spans, f, n
		}
	}
	return cutOut(field, matches)
}

// span is the position of a match of a phrase in a text, in bytes.
type span struct{ from, to, phrase int }

// densest finds the part of a text in which the most different phrases occur. The part is short enough for a snippet. densest
// returns the matches in that part, and the number of different phrases.
func densest(phrases []parley.Phrase, text string) (best []span, most int) {
	tokens := tokensOf(text, maxPlaces)
	var all []span
	for _, o := range occurrences(phrases, tokens) {
		all = append(all, span{tokens[o.from].Start, tokens[o.to-1].End, o.phrase})
	}
	maxLength := snippetRunes - snippetLead
	for i := range all {
		end, different := i, map[int]bool{}
		for end < len(all) && all[end].to-all[i].from <= maxLength { // in bytes, so never more characters than the snippet shows
			different[all[end].phrase] = true
			end++
		}
		end = max(end, i+1) // one match may be longer than the snippet
		if n := max(1, len(different)); n > most {
			best, most = all[i:end], n
		}
	}
	return best, most
}

// cutOut returns the snippet of a field around matches.
func cutOut(f Field, matches []span) parley.Snippet {
	from := 0
	if len(matches) > 0 {
		from = snippetStart(f.Text, matches[0].from)
	}
	to := forward(f.Text, from, snippetRunes)
	s := parley.Snippet{Field: f.Name, Text: f.Text[from:to], Cut: from > 0 || to < len(f.Text)}
	for _, m := range matches {
		begin, end := max(m.from, from), min(m.to, to)
		if begin >= end {
			continue
		}
		mark := [2]int{utf8.RuneCountInString(f.Text[from:begin]), utf8.RuneCountInString(f.Text[from:end])}
		if last := len(s.Marks) - 1; last >= 0 && mark[0] <= s.Marks[last][1] { // words of pairs overlap
			s.Marks[last][1] = max(mark[1], s.Marks[last][1])
		} else {
			s.Marks = append(s.Marks, mark)
		}
	}
	return s
}

// snippetStart returns the start of a snippet: at most snippetLead characters before the first match, and at the beginning of a
// word if spaces separate the words.
func snippetStart(text string, match int) int {
	from := match
	for range snippetLead {
		if from == 0 {
			return 0
		}
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if space := strings.IndexAny(text[from:match], " \n\t"); space >= 0 {
		from += space + 1
	}
	return from
}

// forward returns the position that many characters after another, or the end of the text.
func forward(text string, from, runes int) int {
	for ; runes > 0 && from < len(text); runes-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

package search

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

const (
	maxQuery = 4 << 10 // bytes
	maxTerms = 32
)

// Query is a parsed search. It has names as the user typed them. The hub finds the participants, conversations and tasks with
// these names.
type Query struct {
	All, None []parley.Phrase

	From, To, In, Task, Trace string
	Type                      parley.Type
	Before, After             time.Time
	Unanswered                bool
}

// Parse parses a search. Words, "phrases" and beginnings* must all occur, and -words must not. The filters are from: in: to:
// type: before: after: is:unanswered task: trace:. Any other text with a colon is searched as words. Parse returns E003 for an
// invalid search.
func Parse(text string) (q Query, err error) {
	if len(text) > maxQuery {
		return q, parley.Errorf(parley.BadInput, "the search has %d bytes, the limit is %d", len(text), maxQuery).
			Because(parley.TooLarge).Suggest("search for fewer words")
	}
	if !utf8.ValidString(text) {
		return q, parley.Errorf(parley.BadInput, "the search is not valid UTF-8").Suggest("encode it as UTF-8")
	}
	given := map[string]bool{}
	for {
		term, rest, more := nextTerm(text)
		if !more {
			break
		}
		text = rest
		if term.filter == "" {
			q.addWords(term)
			continue
		}
		if err := q.addFilter(term, given); err != nil {
			return q, err
		}
		given[term.filter] = true
	}
	switch n := len(q.All) + len(q.None); {
	case n == 0 && len(given) == 0:
		return q, parley.Errorf(parley.BadInput, "there is nothing to search for").
			Suggest("give a word, or a filter like from:arya")
	case n > maxTerms:
		return q, parley.Errorf(parley.BadInput, "the search has %d words, the limit is %d", n, maxTerms).
			Because(parley.TooLarge).Suggest(`search for fewer words, or for a "phrase"`)
	}
	return q, nil
}

// term is one piece of a query.
type term struct {
	not, prefix bool
	filter      string // its name, or "" for words
	value       string
}

// filters are the names of the filters, without the colon.
var filters = []string{"from", "in", "to", "type", "before", "after", "is", "task", "trace"}

// nextTerm splits the first term off a query. more is false if the query is empty.
func nextTerm(text string) (t term, rest string, more bool) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if text == "" {
		return t, "", false
	}
	if after, not := strings.CutPrefix(text, "-"); not && after != "" {
		t.not, text = true, after
	}
	for _, name := range filters {
		if len(text) > len(name) && text[len(name)] == ':' && strings.EqualFold(text[:len(name)], name) {
			t.filter, text = name, text[len(name)+1:]
			break
		}
	}
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		t.value, rest, _ = strings.Cut(inner, `"`)
		rest, t.prefix = strings.CutPrefix(rest, "*")
		return t, rest, true
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	t.value = text[:end]
	t.prefix = strings.HasSuffix(t.value, "*")
	return t, text[end:], true
}

// addWords adds the words of a term. A term without letters, digits or emoji adds nothing.
func (q *Query) addWords(t term) {
	list := words(t.value)
	if len(list) == 0 {
		return
	}
	p := parley.Phrase{Words: list, Prefix: t.prefix || len(list) > 1 && isSingle(list[len(list)-1])}
	if t.not {
		q.None = append(q.None, p)
	} else {
		q.All = append(q.All, p)
	}
}

// isSingle reports whether a word is one character of a script that is split into pairs. In a message, such a character after
// other words begins a pair.
func isSingle(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return classOf(r) == unspacedScript && nextCharacter(word, 0) == len(word)
}

// addFilter sets a filter. It returns E003 if the filter is negated, empty, given twice or invalid.
func (q *Query) addFilter(t term, given map[string]bool) (err error) {
	switch {
	case t.not:
		return parley.Errorf(parley.BadInput, "the filter %s: cannot be excluded with -", t.filter).Suggest("exclude words, not filters")
	case t.value == "":
		return parley.Errorf(parley.BadInput, "the filter %s: has no value", t.filter).
			Suggest("write the value directly after the colon, as in from:arya")
	case given[t.filter]:
		return parley.Errorf(parley.BadInput, "the filter %s: is given twice", t.filter).Suggest("give the filter once")
	}
	switch t.filter {
	case "from":
		q.From = strings.TrimPrefix(t.value, "@")
	case "to":
		q.To = strings.TrimPrefix(t.value, "@")
	case "in":
		q.In = t.value
	case "task":
		q.Task = t.value
	case "trace":
		q.Trace = t.value
		return parley.CheckTrace(q.Trace)
	case "type":
		q.Type = parley.Type(strings.ToLower(t.value))
		return parley.CheckType(q.Type)
	case "before":
		q.Before, err = parseTime(t)
	case "after":
		q.After, err = parseTime(t)
	case "is":
		if q.Unanswered = strings.EqualFold(t.value, "unanswered"); !q.Unanswered {
			return parley.Errorf(parley.BadInput, "the filter is:%.80s is unknown", t.value).Suggest("use is:unanswered")
		}
	}
	return err
}

// parseTime parses a moment, or a day, which means the first moment of the day in UTC.
func parseTime(t term) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, t.value); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, parley.Errorf(parley.BadInput, "the filter %s:%.80s is not a date", t.filter, t.value).
		Suggest("write a day as %s:2026-01-31, or a moment as %s:2026-01-31T15:04:05Z", t.filter, t.filter)
}

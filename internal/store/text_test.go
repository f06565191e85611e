package store

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

var someValues = rapid.OneOf(rapid.String(), rapid.StringN(maxTagValue-2, maxTagValue+2, -1))

func TestTagsAreWordsOfTheirOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := someValues.Draw(t, "a"), someValues.Draw(t, "b")
		if n := len(tag('f', a)); n >= 2<<10 {
			t.Errorf("a word of %d bytes is too long for PostgreSQL", n)
		}
		if (a == b) != (tag('f', a) == tag('f', b)) {
			t.Errorf("%q and %q become %q and %q", a, b, tag('f', a), tag('f', b))
		}
		if strings.ContainsFunc(tag('f', a), func(r rune) bool {
			return !strings.ContainsRune(tagMark+tagByte+"abcdefghijklmnopqrstuvwxyz0123456789", r)
		}) {
			t.Errorf("%q becomes %q", a, tag('f', a))
		}
	})
	for _, other := range []string{everyTag, noTag, gap, tag('t', "x")} {
		if tag('f', "x") == other {
			t.Errorf("%q is used twice", other)
		}
	}
}

func TestDocumentsAsTheDatabasesReadThem(t *testing.T) {
	t.Parallel()
	tags, words, loose := []string{everyTag}, []string{"a", "b", "", "a"}, []string{"d", "b"}
	if got, want := (FTS5{}).Document(tags, words, loose), "\ue000a a b \ue000 a \ue000 d \ue000 b"; got != want {
		t.Errorf("FTS5: got %q, want %q", got, want)
	}
	entries := strings.Fields(TSVector{}.Document(tags, words, loose))
	slices.Sort(entries)
	if got, want := strings.Join(entries, " "), "'a':1,4 'b':2,16383 'd':16383 '\ue000a'"; got != want {
		t.Errorf("tsvector: got %q, want %q", got, want)
	}
}

func TestExpressionsAsTheDatabasesReadThem(t *testing.T) {
	t.Parallel()
	p := func(prefix bool, words ...string) parley.Phrase { return parley.Phrase{Words: words, Prefix: prefix} }
	for _, c := range []struct {
		Expression
		fts5, tsquery string
	}{
		{Expression{}, "(\"\ue000a\")", "(('\ue000a'))"},
		{Expression{All: []parley.Phrase{p(false, "a", "b"), p(true, "c", "d")}}, `("a b" AND "c d" *)`, "(('a' <-> 'b') & ('c' <-> 'd':*))"},
		{
			Expression{Tags: []string{"x"}, OneOf: []string{"y", "z"}, None: []parley.Phrase{p(false, "a"), p(true, "b")}},
			`("x" AND ("y" OR "z")) NOT "a" NOT "b" *`, "(('x') & (('y') | ('z'))) & !('a') & !('b':*)",
		},
	} {
		if got := (FTS5{}).Expression(c.Expression); got != c.fts5 {
			t.Errorf("FTS5: got %s, want %s", got, c.fts5)
		}
		if got := (TSVector{}).Expression(c.Expression); got != c.tsquery {
			t.Errorf("tsquery: got %s, want %s", got, c.tsquery)
		}
	}
	if got := quoteWord(`it's \`); got != `'it''s \\'` {
		t.Errorf("got %s", got)
	}
}

package search

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func phrase(words string) parley.Phrase { return parley.Phrase{Words: strings.Fields(words)} }

func beginning(words string) parley.Phrase {
	return parley.Phrase{Words: strings.Fields(words), Prefix: true}
}

func TestParse(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]Query{
		"Hello World":      {All: []parley.Phrase{phrase("hello"), phrase("world")}},
		`"exact phrase" x`: {All: []parley.Phrase{phrase("exact phrase"), phrase("x")}},
		`"never closed`:    {All: []parley.Phrase{phrase("never closed")}},
		"hello -world":     {All: []parley.Phrase{phrase("hello")}, None: []parley.Phrase{phrase("world")}},
		`-"a b"`:           {None: []parley.Phrase{phrase("a b")}},
		"wor* -ab*":        {All: []parley.Phrase{beginning("wor")}, None: []parley.Phrase{beginning("ab")}},
		`"big wor"*`:       {All: []parley.Phrase{beginning("big wor")}},
		"foo_bar-baz.go":   {All: []parley.Phrase{phrase("foo bar baz go")}},
		"消息类型":             {All: []parley.Phrase{phrase("消息 息类 类型")}},
		"消":                {All: []parley.Phrase{phrase("消")}},
		"PM消":              {All: []parley.Phrase{beginning("pm 消")}},
		"xyz:abc http://x": {All: []parley.Phrase{phrase("xyz abc"), phrase("http x")}},
		"... hello -":      {All: []parley.Phrase{phrase("hello")}},
		"from:@Arya to:all in:#general task:task-9 type:Request is:Unanswered": {
			From: "Arya", To: "all", In: "#general", Task: "task-9", Type: "request", Unanswered: true,
		},
		"trace:4BF92F3577B34DA6A3CE929D0E0E4736 x": {
			Trace: "4BF92F3577B34DA6A3CE929D0E0E4736", All: []parley.Phrase{phrase("x")},
		},
		`FROM:"WriterBot" x`: {From: "WriterBot", All: []parley.Phrase{phrase("x")}},
		"after:2026-01-02 before:2026-01-02T15:04:05+01:00": {
			After: day, Before: time.Date(2026, 1, 2, 14, 4, 5, 0, time.UTC),
		},
	} {
		got, err := Parse(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "E003: there is nothing to search for (give a word, or a filter like from:arya)",
		"... !":                          "E003: there is nothing to search for (give a word, or a filter like from:arya)",
		"from: arya":                     "E003: the filter from: has no value (write the value directly after the colon, as in from:arya)",
		"-from:arya x":                   "E003: the filter from: cannot be excluded with - (exclude words, not filters)",
		"in:a in:b":                      "E003: the filter in: is given twice (give the filter once)",
		"is:open":                        "E003: the filter is:open is unknown (use is:unanswered)",
		"before:tomorrow":                "E003: the filter before:tomorrow is not a date (write a day as before:2026-01-31, or a moment as before:2026-01-31T15:04:05Z)",
		"after:2026-02-30":               "E003: the filter after:2026-02-30 is not a date (write a day as after:2026-01-31, or a moment as after:2026-01-31T15:04:05Z)",
		"type:Größe":                     `E003: "größe" is not a message type (a type is 1 to 64 of a-z, 0-9, _ and -, starting with a letter)`,
		`trace:"a b"`:                    `E003: trace_id "a b" contains a space or control character (use a UUID, 32 hexadecimal digits, or one word)`,
		"\xff":                           "E003: the search is not valid UTF-8 (encode it as UTF-8)",
		strings.Repeat("x ", maxTerms+1): `E003: the search has 33 words, the limit is 32 (search for fewer words, or for a "phrase")`,
		strings.Repeat("x", maxQuery+1):  "E003: the search has 4097 bytes, the limit is 4096 (search for fewer words)",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

// What one tokenizer has split, the other must find.
func TestEveryWordOfATextFindsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := someTexts.Draw(t, "text")
		tokens := tokensOf(text, maxPlaces)
		for _, token := range tokens {
			q, err := Parse(`"` + token.Word + `"`)
			if err != nil || len(q.All) != 1 || len(occurrences(q.All, tokens)) == 0 {
				t.Fatalf("%q is not found in %q: %+v %v", token.Word, text, q, err)
			}
		}
	})
}

// A query for a part of a text finds it, too, wherever it begins and ends, but for parts of spaced words.
func TestEveryPartOfATextFindsIt(t *testing.T) {
	t.Parallel()
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"中", "文", "か\u3099", "한", "go ", "3 ", "-", "🚀"}), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		text := pieces.Draw(t, "text")
		from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(text)-1).Draw(t, "to")
		part := strings.Join(text[from:to+1], "")
		q, err := Parse(`"` + part + `"`)
		if err == nil && len(occurrences(q.All, tokensOf(strings.Join(text, ""), maxPlaces))) == 0 {
			t.Fatalf("%q is not found in %q: %+v", part, text, q.All)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`from:a "b c" -d e*`, `in:"x y" before:2026-01-02`, `"`, `-"`, `is:"unanswered"*`, "消息 to:@a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			if e := parley.AsError(err); e.Code != parley.BadInput || e.Suggestion == "" {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, p := range append(q.All, q.None...) {
			if len(p.Words) == 0 {
				t.Errorf("%q: a phrase without words", text)
			}
			checkTokens(t, strings.Join(p.Words, " "))
		}
	})
}

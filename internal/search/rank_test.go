package search

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

var now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func message(seq int64, text string) parley.Message {
	return parley.Message{Seq: seq, CreatedAt: now, Content: parley.Content{Text: text}}
}

func parsed(t *testing.T, text string) []parley.Phrase {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q.All
}

// In each case the first text must come before the second, though the second is newer.
func TestRankPutsTheBetterFirst(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat(" filler", 60)
	for name, c := range map[string]struct{ query, better, worse string }{
		"the more often":                {"deploy", "deploy failed, deploy again", "deploy failed, start again"},
		"the denser":                    {"deploy", "deploy failed", "deploy failed" + filler},
		"the closer together":           {"deploy failed", "failed to deploy" + filler, "deploy" + filler + " failed"},
		"as typed":                      {"deploy failed", "the deploy failed today", "the failed deploy today"},
		"as typed, behind a pair":       {"消息 failed", "the 消息 failed today", "the failed 消息 today"},
		"all words often, not just one": {"deploy failed", "deploy failed deploy failed", "deploy deploy deploy deploy x x failed"},
		"in one field":                  {"消息 格式", "消息格式标准", "消息" + strings.Repeat("内", 60) + "格式"},
	} {
		list := []parley.Message{message(2, c.worse), message(1, c.better)}
		if got := Rank(parsed(t, c.query), list, now); got[0].Seq != 1 {
			t.Errorf("%s: %q comes before %q", name, got[0].Content.Text, got[1].Content.Text)
		}
	}
}

func TestRankPrefersTheNewer(t *testing.T) {
	t.Parallel()
	old, young := message(2, "deploy"), message(1, "deploy")
	old.CreatedAt = now.Add(-90 * 24 * time.Hour)
	if got := Rank(parsed(t, "deploy"), []parley.Message{old, young}, now); got[0].Seq != 1 {
		t.Error("the older one is first")
	}
	for name, phrases := range map[string][]parley.Phrase{"equals": parsed(t, "deploy"), "no words": nil} {
		got := Rank(phrases, []parley.Message{message(1, "deploy"), message(3, "deploy"), message(2, "deploy")}, now)
		if got[0].Seq != 3 || got[1].Seq != 2 || got[2].Seq != 1 {
			t.Errorf("%s: not by seq", name)
		}
	}
}

func TestFieldsAreTextCodeArtifactsAndPayload(t *testing.T) {
	t.Parallel()
	m := parley.Message{
		Content: parley.Content{Text: "a text", Code: "some code", Artifacts: []parley.Artifact{{Name: "plan.md"}, {Path: "/srv/x"}}},
		Payload: json.RawMessage(`{"key":"value","n":1,"list":["one",{"deep":"two"}],"no":null}`), Metadata: json.RawMessage(`{"m":"secret"}`),
	}
	want := []Field{
		{"text", "a text"},
		{"code", "some code"},
		{"artifact", "plan.md"},
		{"artifact", "/srv/x"},
		{"payload", "value"},
		{"payload", "one"},
		{"payload", "two"},
	}
	if diff := cmp.Diff(want, Fields(m)); diff != "" {
		t.Error(diff)
	}
	doc := NewDocument(m, parley.Conversation{})
	if got := strings.Join(doc.Words, " "); got != "a text  some code  plan md  srv x  value  one  two" {
		t.Errorf("words: %q", got)
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40_000 {
		b.WriteString(" w" + strings.Repeat("x", i%3) + string(rune('a'+i%26)) + time.Duration(i).String())
	}
	doc := NewDocument(message(1, strings.Repeat("the ", 300)+b.String()), parley.Conversation{})
	if len(doc.Words) != maxPlaces || len(doc.Loose) == 0 {
		t.Errorf("%d words, %d loose", len(doc.Words), len(doc.Loose))
	}
	count := map[string]int{}
	for _, word := range doc.Words {
		count[word]++
	}
	if count["the"] != maxRepeat || count[""] != 300-maxRepeat {
		t.Errorf("a word has %d places, %d gaps", count["the"], count[""])
	}
	if loose := len(doc.Loose); len(slices.Compact(slices.Sorted(slices.Values(doc.Loose)))) != loose {
		t.Error("a loose word is there twice")
	}
	huge := NewDocument(message(1, strings.Repeat("𝔘", 100)+strings.Repeat(b.String(), 5)+randomHan(300_000)), parley.Conversation{})
	size := 0
	for _, word := range huge.Loose {
		size += len(word)
	}
	if size > maxBytes {
		t.Errorf("%d bytes of loose words", size)
	}
}

func randomHan(n int) string {
	runes := make([]rune, n)
	for i := range runes {
		runes[i] = rune(0x4E00 + (i*i+7*i)%20_000)
	}
	return string(runes)
}

func TestSnippets(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("filler ", 100)
	for _, c := range []struct{ query, text, want string }{
		{"world", "Hello World!", "Hello [World]!"},
		{"wor*", "Hello World!", "Hello [World]!"},
		{`"hello world" world`, "Hello World, world", "[Hello World], [world]"},
		{"类型", "消息类型", "消息[类型]"},
		{"息类型", "消息类型", "消[息类型]"},
		{"foo_bar.go", "see foo_bar.go now", "see [foo_bar.go] now"},
		{"x", "no match here", "no match here"},
		{"needle", long + "needle " + long, "filler filler filler filler filler filler filler filler [needle] filler"},
		{"one two", "one " + long + "one and two", "filler filler filler filler filler filler filler filler [one] and [two]"},
	} {
		s := NewSnippet(parsed(t, c.query), message(1, c.text))
		if got := marked(s); !strings.HasPrefix(got, c.want) || s.Field != "text" {
			t.Errorf("%s in %.40q: got %q, want %q", c.query, c.text, got, c.want)
		}
		if s.Cut != (len(s.Text) < len(c.text)) {
			t.Errorf("%s in %.40q: cut is %t", c.query, c.text, s.Cut)
		}
	}
	m := parley.Message{Content: parley.Content{Text: "nothing", Code: "x := needle"}}
	if s := NewSnippet(parsed(t, "needle"), m); s.Field != "code" || marked(s) != "x := [needle]" {
		t.Errorf("got %+v", s)
	}
	if s := NewSnippet(nil, parley.Message{}); s.Text != "" {
		t.Errorf("got %+v", s)
	}
}

func marked(s parley.Snippet) string {
	runes := []rune(s.Text)
	var b strings.Builder
	at := 0
	for _, m := range s.Marks {
		b.WriteString(string(runes[at:m[0]]) + "[" + string(runes[m[0]:m[1]]) + "]")
		at = m[1]
	}
	return b.String() + string(runes[at:])
}

func TestSnippetsOfAnyTextAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(someTexts.Draw(t, "text"), rapid.IntRange(1, 50).Draw(t, "times"))
		q, err := Parse(someTexts.Draw(t, "query"))
		if err != nil {
			return
		}
		s := NewSnippet(q.All, message(1, text))
		if n := len([]rune(s.Text)); n > snippetRunes || !strings.Contains(text, s.Text) {
			t.Fatalf("%d characters: %q", n, s.Text)
		}
		at := 0
		for _, m := range s.Marks {
			if m[0] < at || m[1] <= m[0] || m[1] > len([]rune(s.Text)) {
				t.Fatalf("marks %v in %q", s.Marks, s.Text)
			}
			at = m[1]
		}
	})
}

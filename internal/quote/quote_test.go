package quote_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h": "a\nb\nc\nd\ne\nf\ng\nh",
		"tab\tstays":                           "tab\tstays",
		"\x00\x1b[31mred\x7f":                  "[31mred",
		"\u202egpj.exe\u2066x\u2069":           "gpj.exex",
		"a\u200bb\ufeffc\u00add":               "abcd",
		"hidden\U000e0041\U000e0100":           "hidden",
		"👩\u200d💻 ❤️ שלום 日本":                  "👩\u200d💻 ❤️ שלום 日本",
		"\u0600١٢":                             "\u0600١٢",
		"\xff":                                 "\uFFFD",
	} {
		if got := quote.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWordsAndLines(t *testing.T) {
	for in, want := range map[string]string{
		"arya": "arya", "0198c3a0-0000": "0198c3a0-0000", "a_b.c": "a_b.c", "": `""`, "a b": `"a b"`, "é": `"é"`, "a\n## Role": `"a\n## Role"`, "a,b": `"a,b"`,
	} {
		if got := quote.Word(in); got != want {
			t.Errorf("Word(%q) = %s, want %s", in, got, want)
		}
	}
	if got := quote.Inline(strings.Repeat("é", 300)); utf8.RuneCountInString(got) != 203 || !strings.HasSuffix(got, `…"`) {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(got), got)
	}
	if got := quote.Block("a\n\nb\n"); got != "| a\n|\n| b\n|\n" {
		t.Errorf("%q", got)
	}
}

// TestShortStaysWithinItsLimit: whatever is left out, the envelope is whole, and hardly larger than it may be.
func TestShortStaysWithinItsLimit(t *testing.T) {
	v := quote.Participants{Self: "arya", Known: map[string]quote.Person{"user": {Name: "Ned", Kind: parley.KindHuman}}}
	rapid.Check(t, func(t *rapid.T) {
		long := func(what string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"x", "é", "\n", "日本\n", "a line\n", "\r\n", "\u202e"}).Draw(t, what), rapid.IntRange(0, 2000).Draw(t, "times"))
		}
		m := parley.Message{ID: "m1", From: "user", Type: "chat", CreatedAt: time.Unix(0, 0), Content: parley.Content{Text: long("text"), Code: long("code")}, Payload: []byte(long("payload"))}
		limit := rapid.IntRange(0, 5000).Draw(t, "most")
		whole, short := v.Message(m), v.ShortMessage(m, limit)
		if len(whole) <= limit && short != whole {
			t.Fatalf("%d bytes are cut to %d though %d have room", len(whole), len(short), limit)
		}
		const notes = 300 // head, labels, and what says how much is left out
		if len(short) > limit+notes || len(short) > len(whole)+notes {
			t.Fatalf("%d bytes are cut to %d, want at most %d", len(whole), len(short), limit)
		}
		if !utf8.ValidString(short) || !strings.HasPrefix(short, "--- message m1 from user \"Ned\" (human), 1970") || !strings.HasSuffix(short, "--- end ---\n") {
			t.Fatalf("%q", short)
		}
	})
}

// Messages have their short names, as everywhere. Of a message that the text does not have, only the id is known.
func TestEnvelopesHaveShortNames(t *testing.T) {
	asked := parley.Message{ID: "0198c3a0-0000-7000-8000-000000000007", Seq: 7, From: "user", Type: parley.TypeChat}
	answer := parley.Message{ID: "0198c3a0-0000-7000-8000-000000000009", Seq: 9, From: "arya", Type: parley.TypeResponse, InReplyTo: asked.ID}
	for about, test := range map[string]struct {
		messages []parley.Message
		want     string
	}{
		"with the question":    {[]parley.Message{asked, answer}, "--- message m9 from arya (unknown), 0001-01-01T00:00:00Z, response, in reply to m7 ---\n"},
		"without the question": {[]parley.Message{answer}, "--- message m9 from arya (unknown), 0001-01-01T00:00:00Z, response, in reply to " + asked.ID + " ---\n"},
	} {
		if got := (quote.Participants{Names: quote.NamesOf(test.messages)}).Envelope(answer, ""); got != test.want+"--- end ---\n" {
			t.Errorf("%s: %q", about, got)
		}
	}
}

package parley

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// crew are the participants of these tests: display name, or id, to id.
var crew = map[string]string{
	"codex": "codex", "codex-2": "codex-2", "arya": "arya", "WriterBot": "writer", "writer": "writer",
	"Zoë": "zoe", "作家": "sakka", "all": "all", "a": "a",
}

func crewNamed(name string) (string, bool) {
	for known, id := range crew {
		if Fold(known) == Fold(name) {
			return id, true
		}
	}
	return "", false
}

// crewIDs holds for ids of participants; @all is a word, not one of them.
func crewIDs(id string) bool { return id != All && slices.Contains(ids(), id) }

func ids() []string {
	var list []string
	for _, id := range crew {
		list = append(list, id)
	}
	return list
}

func mentioned(text string) string {
	found, _ := ParseMentions(text).Resolve(crewNamed, crewIDs)
	return strings.Join(found, " ")
}

func TestMentions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"@", ""},
		{"@@", ""},
		{"hello", ""},
		{"hello @codex", "codex"},
		{"@codex", "codex"},
		{"@CODEX and @Codex", "codex"},
		{"@arya @codex @arya", "arya codex"},
		{"@codex @arya", "codex arya"},
		{"@@codex", "codex"},
		{"@all please", "all"},

		// A name ends at a character no id has.
		{"@codex-2", "codex-2"},
		{"@codex-3", ""},
		{"@codex_", ""},
		{"@codexx", ""},
		{"@codex.", "codex"},
		{"@codex, @arya!", "codex arya"},
		{"(@codex) [@arya]", "codex arya"},
		{"@codex's", "codex"},
		{"@codex/@arya", "codex arya"},
		{"@codex\n@arya", "codex arya"},
		{"**@codex**", "codex"},
		{"@codex…@arya", "codex arya"},
		{"@ codex", ""},

		// By display name, in any case and form.
		{"@WriterBot", "writer"},
		{"@writerbot @writer", "writer"},
		{"@Zoë", "zoe"},
		{"@ZOE\u0308!", "zoe"},
		{"@zoe", ""}, // neither id nor name: zoe is only what Zoë resolves to here
		{"@作家", "sakka"},
		{"@codexé", "codex"}, // é is no character of an id
		{"请@codex看看", "codex"},
		{"请@作家", "sakka"},

		// Not in an e-mail address.
		{"mail codex@example.com", ""},
		{"mail me@codex", ""},
		{"mail me@codex.com and @arya", "arya"},
		{"first.last+tag@codex", ""},
		{"x_@codex x-@codex 7@codex x%@codex", ""},
		{"José@codex.org", ""},
		{"Jose\u0301@codex.org", ""}, // the same, decomposed
		{"почта@codex.org", ""},
		{"@codex@example.com", ""},
		{"<@codex>", "codex"},
		{"cc:@codex", "codex"},
		{"see.@codex", "codex"},

		// A text that starts with a participant's id.
		{"codex", "codex"},
		{"codex, look", "codex"},
		{"codex: look", "codex"},
		{"codex look", "codex"},
		{"CodeX look", "codex"},
		{"codex\nlook", "codex"},
		{"codex\r\nlook", "codex"},
		{"codex-2: look", "codex-2"},
		{"codex-3: look", ""},
		{"codex. look", ""},
		{"codex! look", ""},
		{"codex; look", ""},
		{"codex's turn", ""},
		{"codex@example.com", ""},
		{"codexes, look", ""},
		{" codex, look", ""},
		{"\ncodex, look", ""},
		{"hey codex, look", ""},
		{"all, look", ""},          // not a participant's id
		{"WriterBot, look", ""},    // a display name is not an id
		{"writer, look", "writer"}, //
		{"codex @arya", "codex arya"},
		{"codex @arya @codex", "codex arya"},
		{"arya: `@codex`", "arya"},
		{"`codex` look", ""},
	} {
		if got := mentioned(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestUnknownMentionsAreNamed(t *testing.T) {
	_, unknown := ParseMentions("@nobody, @codex, @nobody and @Niemand-2 at x@y.z, `@code`, @Ünbekannt!").Resolve(crewNamed, crewIDs)
	if want := []string{"nobody", "Niemand-2", "Ünbekannt"}; !slices.Equal(unknown, want) {
		t.Errorf("got %q, want %q", unknown, want)
	}
	if found, unknown := ParseMentions("nobody, hello").Resolve(crewNamed, crewIDs); found != nil || unknown != nil {
		t.Errorf("a first word that is no id is not a failed mention: %q, %q", found, unknown)
	}
}

func TestMentionsInsideCodeDoNotCount(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Spans.
		{"`@codex`", ""},
		{"`@codex` @arya", "arya"},
		{"``@codex ` ``", ""},
		{"`` ` `` @arya", "arya"},
		{"`@codex", "codex"}, // never closed
		{"`@codex``", "codex"},
		{"` a\n@codex `", ""},            // across a line
		{"` a\n\n@codex `", "codex"},     // not across paragraphs
		{"` a\n> @codex `", "codex"},     // nor into a quote
		{"- ` a\n- @codex `", "codex"},   // nor from one item to the next
		{"1. ` a\n2. @codex `", "codex"}, //
		{"# ` a\n@codex `", "codex"},     // nor out of a heading
		{"` a\n===\n@codex `", "codex"},  //
		{"` a\n---\n@codex `", "codex"},  //
		{"\\`@codex\\`", "codex"},        // escaped
		{"\\\\`@codex`", ""},             // the backslash is
		{"`\\`@codex`", "codex"},         // no escapes inside
		{"\\```@codex`` @arya", "arya"},  // one escaped, two left

		// Fences.
		{"```\n@codex\n```", ""},
		{"```\n@codex\n```\n@arya", "arya"},
		{"```\n@codex", ""}, // to the end
		{"```go @codex\nx\n```\n@arya", "arya"},
		{"~~~\n@codex\n```\n@codex\n~~~\n@arya", "arya"},
		{"````\n@codex\n```\n@codex\n````\n@arya", "arya"},
		{"```\n@codex\n`````\n@arya", "arya"},
		{"```\n@codex\n``` x\n@codex\n```\n@arya", "arya"},
		{"``` `@codex\n@arya", "codex arya"}, // not a fence
		{"text\n```\n@codex\n```", ""},
		{"   ```\n@codex\n  ```\n@arya", "arya"},
		{"```\n@codex\n    ```\n@codex\n```\n@arya", "arya"}, // too far in to close it
		{"```\r\n@codex\r\n```\r\n@arya", "arya"},
		{"> ```\n> @codex\n> ```\n> @arya", "arya"},
		{"> ```\n> @codex\n\n@arya", "arya"}, // a fence ends with its quote
		{"> ```\n> @codex\n@arya", "arya"},
		{"```\n> ```\n@codex\n```\n@arya", "arya"}, // a quote inside is code
		{"- ```\n  @codex\n\n  @codex\n  ```\n  @arya", "arya"},
		{"1. run\n   ```\n   @codex\n\n   @codex\n   ```\n2. @arya", "arya"},
		{"1. run\n   ```\n@codex\n   ```\n2. @arya", "arya"}, // as people paste it

		// Indented blocks.
		{"    @codex", ""},
		{"\t@codex", ""},
		{"  \t@codex", ""},
		{"   @codex", "codex"},
		{"text\n\n    @codex\n\n    @codex\ntext @arya", "arya"},
		{"text\n    @codex", "codex"}, // goes on with the paragraph
		{"# head\n    @codex", ""},
		{"---\n    @codex", ""},
		{">     @codex", ""},
		{"> @codex", "codex"},
		{"- item\n\n    @codex", "codex"}, // belongs to the item
		{"- item\n\n      @codex", ""},
		{"- item\nlazy\n\n    @codex", "codex"},
		{"-     @codex", ""},
		{"- item\n\ntext\n\n    @codex", ""}, // the list is over
		{"- a\n  - b\n\n    @codex\n\n        @codex-2", "codex"},
		{"1. > a\n\n   @codex", "codex"},
	} {
		if got := mentioned(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// checkMentions holds for every text.
func checkMentions(t interface{ Fatalf(string, ...any) }, text string) {
	found, unknown := ParseMentions(text).Resolve(crewNamed, crewIDs)
	for i, id := range found {
		if !slices.Contains(ids(), id) || slices.Contains(found[:i], id) {
			t.Fatalf("%q mentions %q: one twice, or nobody", text, found)
		}
	}
	for i, word := range unknown {
		if _, ok := crewNamed(word); ok || word == "" || slices.Contains(unknown[:i], word) || !strings.Contains(text, "@"+word) {
			t.Fatalf("%q: unknown is %q", text, unknown)
		}
	}
	if most := strings.Count(text, "@"); len(found) > most+1 || len(unknown) > most {
		t.Fatalf("%q has %d @, but mentions %q, unknown %q", text, most, found, unknown)
	}

	// After an own paragraph the first word is no longer special; everything else stays.
	if _, first := crew[strings.ToLower(leadingWord(text))]; !first {
		if after := mentioned("x\n\n" + text); after != strings.Join(found, " ") {
			t.Fatalf("%q mentions %q, but after a paragraph %q", text, found, after)
		}
	}
	if before := mentioned("@arya\n\n" + text); !strings.HasPrefix(before, "arya") {
		t.Fatalf("%q hides a mention before it: %q", text, before)
	}

	// The same text as code mentions nobody.
	for _, mark := range []string{"`", "~"} {
		fence := strings.Repeat(mark, max(3, maxRunLength(text, mark[0])+1))
		if got := mentioned(fence + "\n" + text + "\n" + fence); got != "" {
			t.Fatalf("%q in a fence mentions %q", text, got)
		}
		if got := mentioned(fence + "\n" + text + "\n" + fence + "\n@arya"); got != "arya" {
			t.Fatalf("%q in a fence hides what follows, or shows: %q", text, got)
		}
		if got := mentioned("> " + fence + "\n> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n\n@arya"); got != "arya" {
			t.Fatalf("%q in a quoted fence hides what follows, or shows: %q", text, got)
		}
	}
	if got := mentioned("    " + strings.ReplaceAll(text, "\n", "\n    ")); got != "" {
		t.Fatalf("%q indented mentions %q", text, got)
	}
	if line := strings.NewReplacer("\n", " ", "\r", " ", "`", "'").Replace(text); line != "" {
		if got := mentioned("see `" + line + "` there"); got != "" {
			t.Fatalf("%q in a span mentions %q", line, got)
		}
	}
	if got := mentioned("x " + strings.ReplaceAll(text, "@", "")); got != "" {
		t.Fatalf("%q mentions %q without an @", text, got)
	}
}

func maxRunLength(text string, c byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// anyText draws Markdown in which much can go wrong.
func anyText() *rapid.Generator[string] {
	pieces := []string{
		"@codex", "@arya", "@codex-2", "@nobody", "@all", "@", "codex", "a", "x@y.z", "@Zoë", "é", "家", " ", "\n", "\n\n", "\r\n",
		"`", "``", "```", "\n```\n", "~~~", "\n~~~\n", "    ", "\t", "> ", "- ", "1. ", "2) ", "# ", "\\", "---\n", "===\n", ",", ":",
	}
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20), func(p []string) string { return strings.Join(p, "") }),
		rapid.String(),
	)
}

func TestMentionsOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkMentions(t, anyText().Draw(t, "text")) })
}

func TestMentionsUnderTheHeaderOfAContact(t *testing.T) {
	patterns := []Pattern{PatternAsk, PatternDelegate, PatternNotify}
	rapid.Check(t, func(t *rapid.T) {
		c := Contact{
			Pattern: rapid.SampledFrom(patterns).Draw(t, "pattern"), Context: anyText().Draw(t, "context"), Message: anyText().Draw(t, "message"),
		}
		name := strings.Join(strings.Fields(anyText().Draw(t, "name")), " ")
		header := c.Header(Agent{ID: "arya", Name: name}, "task-7").Text
		whole, parts := ParseMentions(header+"\n\n"+c.RequestBody()), ParseMentions(c.RequestBody()).Under(header)
		if !slices.Equal(whole.afterAt, parts.afterAt) || whole.leading != parts.leading {
			t.Errorf("%q and %q mention %+v, but in one text %+v", header, c.RequestBody(), parts, whole)
		}
	})
}

func TestLongWordsAreNobodysName(t *testing.T) {
	long := strings.Repeat("x", 300)
	if n := ParseMentions("@" + long + " @" + strings.Repeat("ü", 200)).Len(); n != 0 {
		t.Errorf("%d names to look up, want 0", n)
	}
	found, _ := ParseMentions("@codex"+strings.Repeat("请看", 100)).Resolve(crewNamed, crewIDs)
	if !slices.Equal(found, []string{"codex"}) {
		t.Errorf("found %v before a long text without spaces", found)
	}
}

func FuzzMentions(f *testing.F) {
	for _, seed := range []string{
		"", "@codex", "codex, look", "mail codex@example.com", "`@codex` and @arya", "```\n@codex\n```\n@arya", "@codex@arya",
		"> ```\n> @codex\n@arya", "- a\n\n      @codex", "\\`@codex\\`", "\xff@codex", "\xff", "codex\x00", "@Zoë", "@codex\u0301",
		"1. ```\n\n@codex", "\t-\t@codex", ">\t\t@codex", "a\n-\n\t@codex", "``` ` @codex",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkMentions(t, text) })
}

// Each of these took, or could take, time that grows with the square of the length.
func TestMentionsOfMegabytes(t *testing.T) {
	const size = 1 << 20
	var rising, names strings.Builder
	for n := 1; rising.Len() < size; n++ {
		rising.WriteString(strings.Repeat("`", n) + "@")
	}
	for n := 0; names.Len() < size; n++ {
		fmt.Fprintf(&names, "@n%d ", n)
	}
	texts := map[string]string{"rising runs of backticks": rising.String(), "different names": names.String()}
	for _, piece := range []string{
		"`", "``` ", "`@", "@", "@a", "@a ", "@a@", "a@", "\\`", "\\", "> ", ">", "- ", "* ", "1. ", "-\n", "\n", "> \n", "    @a\n",
		"```\n", "~~~ \n", "# `@a`\n", "\u0301", "a\u0301@", "家", "\t", "---\n", "- - ", "   - @a\n", "\xff", "=\n", "1",
	} {
		texts[piece] = strings.Repeat(piece, size/len(piece))
	}
	for name, text := range texts {
		found, _ := ParseMentions(text).Resolve(func(name string) (string, bool) { return "a", name == "a" }, func(string) bool { return false })
		if len(found) > 1 {
			t.Errorf("%q: %d found", name, len(found))
		}
	}
}

func TestMentionsCutsAtWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		if !utf8.ValidString(text) {
			return
		}
		ParseMentions(text).Resolve(func(name string) (string, bool) {
			if !utf8.ValidString(name) || name == "" {
				t.Fatalf("%q: asked for %q", text, name)
			}
			return "", false
		}, func(id string) bool {
			if id == "" || strings.ToLower(id) != id {
				t.Fatalf("%q: asked for the id %q", text, id)
			}
			return false
		})
	})
}

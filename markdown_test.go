package parley

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// code is a text with its code in brackets.
func code(text string) string {
	var b strings.Builder
	at := 0
	for _, r := range codeRanges(text) {
		b.WriteString(text[at:r.start] + "[" + text[r.start:r.end] + "]")
		at = r.end
	}
	return b.String() + text[at:]
}

func TestCodeRanges(t *testing.T) {
	for _, want := range []string{
		"",
		"text",
		"a [`b`] c [``d``]",
		"[``` b ```] c",
		"a\n[```\nb\n```\n]c",
		"a\n[~~~ sh\nb]",
		"[    b\n][    c\n]d",
		"a\n    b",
		"- [`a`]\n- [`b`]\n",
		"> [`a\n> b`]\n",
		"# [`a`]\n[    b]",
		"a\n\n[>     b\n]> c",
		"a ` b\n\nc ` d",
		"[- ```\n  a\n  ```\n]b",
	} {
		if got := code(strings.NewReplacer("[", "", "]", "").Replace(want)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCodeRangesAreInOrderAndStayTheirOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		ranges := codeRanges(text)
		end := 0
		for _, r := range ranges {
			if r.start < end || r.end <= r.start || r.end > len(text) {
				t.Fatalf("%q: %v", text, ranges)
			}
			end = r.end
		}
		// What stands before in a paragraph of its own changes nothing.
		moved := codeRanges("a `b` c\n\n" + text)[1:]
		for i := range moved {
			moved[i].start, moved[i].end = moved[i].start-9, moved[i].end-9
		}
		if !slices.Equal(moved, ranges) {
			t.Fatalf("%q: %v, but after a paragraph %v", text, ranges, moved)
		}
	})
}

func TestDeepNestingIsText(t *testing.T) {
	for _, mark := range []string{"> ", "- ", "1. ", ">", "* > "} {
		for _, depth := range []int{1, maxNesting, maxNesting + 1, 10 * maxNesting} {
			text := strings.Repeat(mark, depth) + "`@a`\n\nx"
			if got := codeRanges(text); len(got) != 1 || text[got[0].start:got[0].end] != "`@a`" {
				t.Errorf("%d times %q: %v", depth, mark, got)
			}
		}
	}
}

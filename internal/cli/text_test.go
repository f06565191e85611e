package cli

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

// TestTruncatedTextFitsOneHarmlessLine holds for any text of anybody.
func TestTruncatedTextFitsOneHarmlessLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		most := rapid.IntRange(1, 40).Draw(t, "most")
		line := truncate(oneLine(text), most)
		if displayWidth(line) > most {
			t.Fatalf("%q has %d columns of %d", line, displayWidth(line), most)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Fatalf("%q is not harmless", line)
		}
	})
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "…": 1} {
		if got := displayWidth(text); got != want {
			t.Errorf("columns(%q) = %d, want %d", text, got, want)
		}
	}
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}} {
		if got := truncate(test.text, test.width); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

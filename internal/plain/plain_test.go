package plain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley/internal/plain"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func TestHostileText(t *testing.T) {
	for _, test := range []struct{ name, in, text, line string }{
		{"plain", "hello, world", "hello, world", "hello, world"},
		{"lines", "a\nb\r\nc", "a\nb\nc", "a b c"},
		{"other line ends", "a\u2028b\u2029c\u0085d", "a\nb\nc\nd", "a b c d"},
		{"a lone return", "good\rbad", "good␍bad", "good␍bad"},
		{"tab", "a\tb", "a    b", "a    b"},
		{"colour", "\x1b[31mred", "␛[31mred", "␛[31mred"},
		{"title of the window", "\x1b]0;pwned\a", "␛]0;pwned␇", "␛]0;pwned␇"},
		{"C1 escape", "\u009b31m", "�31m", "�31m"},
		{"backspaces", "no\b\byes\x7f", "no␈␈yes␡", "no␈␈yes␡"},
		{"bidi override", "\u202egpj.exe", "�gpj.exe", "�gpj.exe"},
		{"bidi isolate", "\u2066x\u2069", "�x�", "�x�"},
		{"nothing to see", "a\u200bb\ufeffc\u00add", "a�b�c�d", "a�b�c�d"},
		{"tags", "a\U000e0041", "a�", "a�"},
		{"not UTF-8", "a\xffb", "a�b", "a�b"},
		{"right to left letters stay", "שלום", "שלום", "שלום"},
		{"emoji stay", "👩\u200d💻 ❤️ 日本", "👩\u200d💻 ❤️ 日本", "👩\u200d💻 ❤️ 日本"},
		{"a tower of accents", "e" + strings.Repeat("\u0301", 500), "e" + strings.Repeat("\u0301", 8), "e" + strings.Repeat("\u0301", 8)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := plain.Text(test.in); got != test.text {
				t.Errorf("Text(%q) = %q, want %q", test.in, got, test.text)
			}
			if got := plain.Line(test.in); got != test.line {
				t.Errorf("Line(%q) = %q, want %q", test.in, got, test.line)
			}
		})
	}
}

func TestNoControlCharacterIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for _, r := range strings.ReplaceAll(plain.Text(in), "\n", "") + plain.Line(in) {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q is left of %q", r, in)
			}
		}
		if again := plain.Text(plain.Text(in)); again != plain.Text(in) {
			t.Fatalf("cleaning twice changes %q", in)
		}
	})
}

func TestJSONStaysTheSameAndIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := map[string]string{"a": rapid.OneOf(
			rapid.String(), rapid.SampledFrom([]string{"\u009b2J", "\x7f", "\u202egpj", "\x1b]0;a\a", "a\U000e0041", "\u200b", "שלום", "日本\n"}),
		).Draw(t, "said")}
		raw, err := json.MarshalIndent(said, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got := plain.JSON(raw)
		for _, r := range string(got) {
			if r != '\n' && !unicode.IsGraphic(r) && !unicode.In(r, unicode.Cn, unicode.Join_Control) {
				t.Fatalf("%q has %U", got, r)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(got, &back); err != nil || back["a"] != said["a"] {
			t.Fatalf("%q became %q (%v)", said["a"], got, err)
		}
	})
}

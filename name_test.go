package parley

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestAgentIDs(t *testing.T) {
	for _, id := range []string{
		"a", "7", "arya", "codex-2", "a_b", "0-_", "a-", strings.Repeat("a", 64), "user",
		"0190a8c4-5f4e-7000-8000-000000000000", // a UUID is a slug, too
	} {
		if err := CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{
		"", "-a", "_a", "Arya", "a b", "a.b", "a@b", "#a", "é", "ａ", "a\n", "\na", "a\x00", "\xff", strings.Repeat("a", 65),
	} {
		refused(t, CheckID(id), "not an agent id")
		refused(t, CheckChannelName(id), "not a channel name")
	}
}

func TestReservedNamesAreRefusedInEveryForm(t *testing.T) {
	for _, id := range []string{"all", "broadcast", "parley", "system", "inbox", "tasks", "shared", "processed"} {
		refused(t, CheckID(id), id, "reserved")
		refused(t, CheckName(id), id, "reserved")
		refused(t, CheckName(strings.ToUpper(id)), id, "reserved")
		refused(t, CheckName(wide(id)), id, "reserved")
		refused(t, CheckName(id[:1]+"\ufe0f"+id[1:]), id, "reserved")
		if err := CheckChannelName(id); err != nil { // #broadcast is a channel of the hub's own
			t.Errorf("channel %s: %v", id, err)
		}
		if err := CheckID(id + "2"); err != nil {
			t.Errorf("%s2: %v", id, err)
		}
	}
}

// wide writes ASCII letters in their full-width form, which NFKC undoes.
func wide(s string) string {
	return strings.Map(func(r rune) rune { return r + 'ａ' - 'a' }, s)
}

// A name that looks like that of a removed agent would pass for it.
func TestNamesOfRemovedAgentsAreRefusedInEveryForm(t *testing.T) {
	for _, name := range []string{"arya~removed", "arya~removed-2", "Arya~REMOVED", wide("arya~removed"), "~removed", "arya~re\ufe0fmoved"} {
		refused(t, CheckName(name), name, "removed agent")
	}
}

func TestDisplayNames(t *testing.T) {
	for _, name := range []string{
		"WriterBot", "a", "Zoë", "Zoe\u0308", "作家", "Дарья", "R2-D2", "O'Neil", "☀", strings.Repeat("字", 64),
	} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "Writer Bot", " a", "a ", "a\tb", "a\nb", "a\u00a0b", "a\u3000b", "a\u2028b", "a\u0085b", "a\x00", "a\x7f", "a\u009b",
		"a\u200bb", "a\u200db", "a\u202eb", "\ufeffa", "a\u00adb", // invisible
		"\u3164", "\u115f\ufe0f", // nothing to see at all
		"\xff", "a\xc3", strings.Repeat("a", 65), strings.Repeat("字", 65),
	} {
		refused(t, CheckName(name), "display name")
	}
}

func TestNamesThatLookTheSameFoldEqual(t *testing.T) {
	for _, group := range [][]string{
		{"arya", "Arya", "ARYA", "ＡＲＹＡ", "ａｒｙａ", "ar\u200bya", "ar\u00adya", "arya\ufe0f"},
		{"strasse", "straße", "STRASSE", "STRAẞE"},
		{"σοφος", "σοφοσ", "ΣΟΦΟΣ"},
		{"fish", "ﬁsh", "FISH"},
		{"Å", "å", "A\u030a", "\u212b"},
		{"k9", "K9", "\u212a9"},
		{"ǆ", "ǅ", "Ǆ", "dž", "DŽ"},
		{"ΐ", "ΐ", "\u03b9\u0308\u0301"},
		{"2", "²", "２"},
	} {
		for _, name := range group[1:] {
			if Fold(name) != Fold(group[0]) {
				t.Errorf("%q folds to %q, but %q to %q", name, Fold(name), group[0], Fold(group[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"arya", "aria"}, {"zoe", "zoë"}, {"a-b", "a_b"}, {"аrya", "arya"}} {
		if Fold(pair[0]) == Fold(pair[1]) {
			t.Errorf("%q and %q fold equal", pair[0], pair[1])
		}
	}
}

func TestEveryCharacterFoldsLikeItsVariants(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S) || unicode.In(r, unicode.Han, unicode.Hangul) {
			continue // the others have neither case nor, but for a few, compatibility forms
		}
		s := string(r)
		folded := Fold(s)
		if again := Fold(folded); again != folded {
			t.Errorf("%U folds to %q, and that to %q", r, folded, again)
		}
		for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
			if Fold(string(v)) != folded {
				t.Errorf("%U and %U differ by case only, but fold to %q and %q", r, v, folded, Fold(string(v)))
			}
		}
		if decomposed := norm.NFKD.String(s); decomposed != s && Fold(decomposed) != folded {
			t.Errorf("%U and its decomposition %q fold to %q and %q", r, decomposed, folded, Fold(decomposed))
		}
	}
}

// anyName draws names full of letters that fold in more than one step.
func anyName() *rapid.Generator[string] {
	hard := []rune("aZßẞſﬁŉǰΐΰὖᾳῼᾼΣςσİıKÅµǅﬓﷺ½ｶﾞ\u0301\u0308\u0345\u0327\u05b0\u3099\u034f\u200d\ufe0f\u1100\u1161가")
	return rapid.OneOf(
		rapid.StringOf(rapid.SampledFrom(hard)),
		rapid.StringOf(rapid.RuneFrom(nil, unicode.Latin, unicode.Greek, unicode.Mn)),
		rapid.String(),
	)
}

func TestFoldIsIdempotentAndIgnoresCompatibility(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkFold(t, anyName().Draw(t, "name"))
	})
}

func checkFold(t interface{ Fatalf(string, ...any) }, name string) {
	folded := Fold(name)
	if again := Fold(folded); again != folded {
		t.Fatalf("%+q folds to %+q, and that to %+q", name, folded, again)
	}
	for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
		if other := form.String(name); Fold(other) != folded {
			t.Fatalf("%+q folds to %+q, but its form %+q to %+q", name, folded, other, Fold(other))
		}
	}
	swapped := strings.Map(func(r rune) rune {
		if r == utf8.RuneError {
			return r
		}
		other := unicode.SimpleFold(r)
		if r == '\u0345' || other == '\u0345' { // an iota below its letter: the other case stands beside it
			return r
		}
		return other
	}, name)
	if Fold(swapped) != Fold(strings.ToValidUTF8(name, string(utf8.RuneError))) {
		t.Fatalf("%+q and %+q differ by case only, but fold to %+q and %+q", name, swapped, folded, Fold(swapped))
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{"", "WriterBot", "Straße", "ﬁ", "ΐ", "ͅα", "ᾳ\u0301", "\u034f\u0345", "\xff", "a\u200db", "K", "ŉ", "가"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !utf8.ValidString(name) {
			if CheckName(name) == nil {
				t.Fatalf("%q is not UTF-8, but a name", name)
			}
			_ = Fold(name) // must not panic
			return
		}
		checkFold(t, name)
		if CheckName(name) == nil && Fold(name) == "" {
			t.Fatalf("%q is a name, but folds to nothing", name)
		}
		if CheckID(name) == nil && Fold(name) != name {
			t.Fatalf("the id %q folds to %q", name, Fold(name))
		}
	})
}

func TestNearest(t *testing.T) {
	names := []string{"arya", "gendry", "WriterBot", "codex", "codex-2", "data-bot", "bo"}
	for _, c := range []struct {
		wrong string
		want  []string
	}{
		{"aria", []string{"arya"}},
		{"ARYAA", []string{"arya"}},
		{"rya", []string{"arya"}},
		{"ayra", []string{"arya"}}, // neighbours swapped
		{"writerbto", []string{"WriterBot"}},
		{"wri", []string{"WriterBot"}}, // a beginning
		{"codx", []string{"codex"}},
		{"code", []string{"codex", "codex-2"}},
		{"zzzzzz", nil},
		{"", nil},
		{strings.Repeat("a", 1000), nil},
	} {
		if got := Nearest(c.wrong, names); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.wrong, got, c.want)
		}
	}
	if got := Nearest("bob", []string{"bob4", "bob3", "bob2", "bob1", "bob", "bob"}); !slices.Equal(got, []string{"bob", "bob1", "bob2"}) {
		t.Errorf("got %v, want three, the best first, each once", got)
	}
}

func TestDidYouMean(t *testing.T) {
	if got := DidYouMean([]string{"arya", "aria"}, "see who"); got != "did you mean arya, aria?" {
		t.Errorf("got %q", got)
	}
	if got := DidYouMean(nil, "see who"); got != "see who" {
		t.Errorf("got %q", got)
	}
}

// slowDistance is the definition of the optimal string alignment distance.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	n, m := len(a)-1, len(b)-1
	cost := 1
	if a[n] == b[m] {
		cost = 0
	}
	best := min(slowDistance(a[:n], b)+1, slowDistance(a, b[:m])+1, slowDistance(a[:n], b[:m])+cost)
	if n > 0 && m > 0 && a[n] == b[m-1] && a[n-1] == b[m] {
		best = min(best, slowDistance(a[:n-1], b[:m-1])+1)
	}
	return best
}

func TestDistanceIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[abc]{0,5}`).Draw(t, "a")
		b := rapid.StringMatching(`[abc]{0,5}`).Draw(t, "b")
		if got, want := distance([]rune(a), []rune(b)), slowDistance(a, b); got != want {
			t.Fatalf("%q and %q: got %d, want %d", a, b, got, want)
		}
	})
}

// A name too long to be anybody's is not even folded, which would take seconds.
func TestNearestOfAHugeTextCostsNothing(t *testing.T) {
	huge := strings.Repeat("ﷺ", 1<<18)
	if allocations := testing.AllocsPerRun(1, func() { Nearest(huge, []string{"arya"}) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestNearestFindsEverySingleSlip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{4,12}`).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-2).Draw(t, "at")
		wrong := rapid.SampledFrom([]string{
			name[:at] + name[at+1:],                                       // left out
			name[:at] + "x" + name[at:],                                   // put in
			name[:at] + "x" + name[at+1:],                                 // replaced
			name[:at] + name[at+1:at+2] + name[at:at+1] + name[at+2:],     // swapped
			strings.ToUpper(name[:at]) + name[at:at+1] + name[at:],        // doubled
			strings.ToUpper(name[:1]) + strings.Repeat("é", 1) + name[1:], // not ASCII
		}).Draw(t, "wrong")
		if got := Nearest(wrong, []string{"0000000000000000000", name}); !slices.Equal(got, []string{name}) {
			t.Fatalf("%q: got %v, want %s", wrong, got, name)
		}
	})
}

func TestClipKeepsSentencesShort(t *testing.T) {
	long := strings.Repeat("字", 81)
	if got := clip(long); utf8.RuneCountInString(got) != 81 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
	if got := clip(long[3:]); got != long[3:] {
		t.Errorf("got %q", got)
	}
	if err := CheckID(strings.Repeat("A", 1<<20)); len(err.Error()) > 1000 {
		t.Errorf("the sentence has %d bytes", len(err.Error()))
	}
}

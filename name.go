package parley

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// System is the hub itself as a participant; Owner is the person who set up the hub;
// All addresses every participant of a conversation.
const (
	System = "parley"
	Owner  = "user"
	All    = "all"
)

const maxNameRunes = 64

// MaxNameBytes is more than the length of any name. Callers refuse longer texts before they fold them, because folding a long
// text takes long.
const MaxNameBytes = 256

var (
	slug     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	reserved = []string{All, "broadcast", System, "system", "inbox", "tasks", "shared", "processed"}
)

// Fold returns a name in the form in which names are compared: NFKC with full case folding and, like Unicode's
// NFKC_Casefold, without invisible characters.
func Fold(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return foldUnicode(name)
		}
	}
	return strings.ToLower(name)
}

// foldUnicode folds decomposed text, because upper-case and lower-case letters do not compose alike. It repeats
// both steps until nothing changes, because each can give the other more to do.
func foldUnicode(name string) string {
	folded := norm.NFKD.String(name)
	for range 4 {
		next := norm.NFKD.String(cases.Fold().String(strings.Map(beforeFold, folded)))
		if next == folded {
			break
		}
		folded = next
	}
	return norm.NFKC.String(folded)
}

// beforeFold drops invisible characters, and turns Cherokee letters into upper case: cases.Fold swaps their two
// cases instead of choosing one.
func beforeFold(r rune) rune {
	switch {
	case invisible(r):
		return -1
	case unicode.Is(unicode.Cherokee, r):
		return unicode.ToUpper(r)
	default:
		return r
	}
}

// invisible reports whether a character is a format character, a filler or a variation selector. With these, two
// different names could look the same.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// CheckID returns why a string cannot be the id of a new agent, or nil.
func CheckID(id string) error {
	return cmp.Or(CheckKnownID(id), CheckNotShortName(id))
}

// CheckKnownID is CheckID for an existing agent, whose id may be older than the rules for short names.
func CheckKnownID(id string) error {
	if !slug.MatchString(id) {
		return Errorf(BadInput, "%q is not an agent id", clip(id)).
			Suggest("an id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return checkReserved(id)
}

// CheckChannelName returns why a string cannot be the name of a new channel, or nil.
func CheckChannelName(name string) error {
	return cmp.Or(CheckKnownChannelName(name), CheckNotShortName(name))
}

// CheckKnownChannelName is CheckChannelName for an existing channel, whose name may be older than the rules for short names.
// It refuses a name that looks like the id of a conversation, because nobody could find the channel by it.
func CheckKnownChannelName(name string) error {
	if !slug.MatchString(name) || IsUUID(name) {
		return Errorf(BadInput, "%q is not a channel name", clip(name)).
			Suggest("a channel name is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return nil
}

// CheckName returns why a string cannot be the new display name of an agent, or nil.
func CheckName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > maxNameRunes || !utf8.ValidString(name) {
		return Errorf(BadInput, "%q is not a display name", clip(name)).
			Suggest("a display name has 1 to %d characters", maxNameRunes)
	}
	for _, r := range name {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return Errorf(BadInput, "the display name %q contains a space or control character", clip(name)).
				Suggest("write it as one word, like WriterBot")
		}
	}
	if strings.Contains(Fold(name), retiredMark) {
		return Errorf(BadInput, "the display name %q is that of a removed agent", clip(name)).Suggest("leave out %s", retiredMark)
	}
	if Fold(name) == "" {
		return Errorf(BadInput, "the display name %q is empty once normalized", clip(name)).
			Suggest("write it as one word, like WriterBot")
	}
	return cmp.Or(checkReserved(Fold(name)), CheckNotShortName(name))
}

// retiredMark is in the id and name of a removed agent whose names another agent has taken. No other id or name has it.
const retiredMark = "~removed"

// RetiredName returns the new id or name of a removed agent when another agent takes the old one: arya~removed, or
// arya~removed-2 if that is taken too.
func RetiredName(name string, n int) string {
	if n < 2 {
		return name + retiredMark
	}
	return name + retiredMark + "-" + strconv.Itoa(n)
}

// OriginalName returns the id or name with which an agent was added, even if another agent has taken it since.
func OriginalName(name string) string {
	original, _, _ := strings.Cut(name, retiredMark)
	return original
}

func checkReserved(folded string) error {
	if slices.Contains(reserved, folded) {
		return Errorf(BadInput, "the name %q is reserved", folded).Suggest("choose another name")
	}
	return nil
}

// clip shortens a participant's text for use inside a sentence.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Nearest returns up to three of the names that are most like a misspelt one, best first.
func Nearest(wrong string, names []string) []string {
	type near struct {
		name string
		far  int
	}
	if len(wrong) > MaxNameBytes {
		return nil
	}
	folded := []rune(Fold(wrong))
	if len(folded) == 0 || len(folded) > 2*maxNameRunes {
		return nil
	}
	reach := 1 + len(folded)/4
	var found []near
	for _, name := range names {
		other := []rune(Fold(name))
		switch difference := len(other) - len(folded); {
		case difference >= 0 && len(folded) >= 3 && slices.Equal(other[:len(folded)], folded):
			found = append(found, near{name, min(difference, 1)}) // one is a prefix of the other
		case max(difference, -difference) <= reach: // a larger difference in length is already too far
			if far := distance(folded, other); far <= reach {
				found = append(found, near{name, far})
			}
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name))
	})
	found = slices.Compact(found)
	var best []string
	for _, n := range found[:min(3, len(found))] {
		best = append(best, n.name)
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between two
// words (optimal string alignment).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// DidYouMean returns a suggestion with the near names, or otherwise if there are none.
func DidYouMean(near []string, otherwise string) string {
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

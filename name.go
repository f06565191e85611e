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

// System is the id of the hub as a participant. Owner is the id of the person who set up the hub. All addresses every participant
// of a conversation.
const (
	System = "parley"
	Owner  = "user"
	All    = "all"
)

const maxNameRunes = 64

// MaxNameBytes is the number of bytes that no name exceeds. Callers refuse longer texts before they fold them, because folding a
// long text takes much time.
const MaxNameBytes = 256

var (
	slugPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	reserved    = []string{All, "broadcast", System, "system", "inbox", "tasks", "shared", "processed"}
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

// foldUnicode decomposes a text and folds it, because upper-case and lower-case letters do not compose alike. It repeats both
// steps until nothing changes, because the result of one step can need the other step again.
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

// beforeFold removes an invisible character and turns a Cherokee letter into upper case, because cases.Fold swaps the two cases
// of Cherokee letters instead of choosing one.
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

// CheckKnownID does what CheckID does, for an existing agent. It accepts short names, because the id may be older than the rule
// against them.
func CheckKnownID(id string) error {
	if !slugPattern.MatchString(id) {
		return Errorf(BadInput, "%q is not an agent id", clip(id)).
			Suggest("an id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return checkReserved(id)
}

// CheckChannelName returns why a string cannot be the name of a new channel, or nil.
func CheckChannelName(name string) error {
	return cmp.Or(CheckKnownChannelName(name), CheckNotShortName(name))
}

// CheckKnownChannelName does what CheckChannelName does, for an existing channel. It accepts short names, because the name may be
// older than the rule against them. It refuses a name that looks like the id of a conversation, because nobody could find the
// channel by such a name.
func CheckKnownChannelName(name string) error {
	if !slugPattern.MatchString(name) || IsUUID(name) {
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
		return Errorf(BadInput, "the display name %q contains the mark of removed agents", clip(name)).Suggest("leave out %s", retiredMark)
	}
	if Fold(name) == "" {
		return Errorf(BadInput, "the display name %q is empty once normalized", clip(name)).
			Suggest("write it as one word, like WriterBot")
	}
	return cmp.Or(checkReserved(Fold(name)), CheckNotShortName(name))
}

// retiredMark is in the id and name of a removed agent whose names another agent has taken. No other id or name has it.
const retiredMark = "~removed"

// RetiredName returns the new id or name of a removed agent when another agent takes the old one: arya~removed for n below 2,
// else arya~removed-n. The caller tries higher numbers while the name is taken.
func RetiredName(name string, n int) string {
	if n < 2 {
		return name + retiredMark
	}
	return name + retiredMark + "-" + strconv.Itoa(n)
}

// OriginalName returns the id or name with which an agent was added, even if a newer agent has it now.
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
	const limit = 80
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// Nearest returns up to three names that are similar to a misspelt one, the most similar first. It returns nil if there are none.
func Nearest(misspelt string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	if len(misspelt) > MaxNameBytes {
		return nil
	}
	folded := []rune(Fold(misspelt))
	if len(folded) == 0 || len(folded) > 2*maxNameRunes {
		return nil
	}
	maxDistance := 1 + len(folded)/4
	var found []candidate
	for _, name := range names {
		other := []rune(Fold(name))
		switch difference := len(other) - len(folded); {
		case difference >= 0 && len(folded) >= 3 && slices.Equal(other[:len(folded)], folded):
			found = append(found, candidate{name, min(difference, 1)}) // the name begins with the misspelt one
		case max(difference, -difference) <= maxDistance: // the distance is at least the difference in length
			if d := distance(folded, other); d <= maxDistance {
				found = append(found, candidate{name, d})
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	found = slices.Compact(found)
	var best []string
	for _, c := range found[:min(3, len(found))] {
		best = append(best, c.name)
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

// DidYouMean returns a suggestion that lists the names that Nearest found. If there are none, it returns otherwise.
func DidYouMean(near []string, otherwise string) string {
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

package parley

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// System is the participant that speaks for the hub itself; Owner is the person who set it up;
// All addresses every participant of a conversation.
const (
	System = "parley"
	Owner  = "user"
	All    = "all"
)

const maxNameRunes = 64

var (
	slug     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	reserved = []string{All, "broadcast", System, "system", "inbox", "tasks", "shared", "processed"}
)

// Fold is the form in which names are compared: NFKC with full case folding.
func Fold(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return foldUnicode(name)
		}
	}
	return strings.ToLower(name)
}

// foldUnicode repeats fold and normalization, because each can undo the other's result.
func foldUnicode(name string) string {
	folded := norm.NFKC.String(name)
	for range 3 {
		next := norm.NFKC.String(cases.Fold().String(folded))
		if next == folded {
			break
		}
		folded = next
	}
	return folded
}

// CheckID says why a string cannot be the id of an agent, or nil.
func CheckID(id string) error {
	if !slug.MatchString(id) {
		return Errorf(BadInput, "%q is not an agent id", clip(id)).
			Suggest("an id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return checkReserved(id)
}

// CheckChannelName says why a string cannot be the name of a channel, or nil.
func CheckChannelName(name string) error {
	if !slug.MatchString(name) {
		return Errorf(BadInput, "%q is not a channel name", clip(name)).
			Suggest("a channel name is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return nil
}

// CheckName says why a string cannot be the display name of an agent, or nil.
func CheckName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > maxNameRunes || !utf8.ValidString(name) {
		return Errorf(BadInput, "%q is not a display name", clip(name)).
			Suggest("a display name has 1 to %d characters", maxNameRunes)
	}
	for _, r := range name {
		// Format characters are invisible: two names could look the same and differ.
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return Errorf(BadInput, "the display name %q contains a space or control character", clip(name)).
				Suggest("write it as one word, like WriterBot")
		}
	}
	if Fold(name) == "" {
		return Errorf(BadInput, "the display name %q is empty once normalized", clip(name))
	}
	return checkReserved(Fold(name))
}

func checkReserved(folded string) error {
	if slices.Contains(reserved, folded) {
		return Errorf(BadInput, "the name %q is reserved", folded).Suggest("choose another name")
	}
	return nil
}

// clip shortens foreign text for use inside a sentence.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Nearest returns up to three of the names that a misspelt one may have meant, best first.
func Nearest(wrong string, names []string) []string {
	type near struct {
		name string
		far  int
	}
	folded := []rune(Fold(wrong))
	if len(folded) == 0 || len(folded) > 2*maxNameRunes {
		return nil
	}
	reach := 1 + len(folded)/4
	var found []near
	for _, name := range names {
		other := []rune(Fold(name))
		far := distance(folded, other)
		if len(folded) >= 3 && strings.HasPrefix(string(other), string(folded)) {
			far = min(far, 1)
		}
		if far <= reach {
			found = append(found, near{name, far})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name))
	})
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

// DidYouMean turns near names into a suggestion, or says how to see all of them.
func DidYouMean(near []string, otherwise string) string {
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

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

// System is the participant that speaks for the hub itself; Owner is the person who set it up;
// All addresses every participant of a conversation.
const (
	System = "parley"
	Owner  = "user"
	All    = "all"
)

const maxNameRunes = 64

// MaxNameBytes is more than any name has. What is longer can be refused before it is folded, which takes long for a long text.
const MaxNameBytes = 256

var (
	slug     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	reserved = []string{All, "broadcast", System, "system", "inbox", "tasks", "shared", "processed"}
)

// Fold is the form in which names are compared: NFKC with full case folding, and, as Unicode's
// NFKC_Casefold has it, without characters that nobody can see.
func Fold(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return foldUnicode(name)
		}
	}
	return strings.ToLower(name)
}

// foldUnicode folds decomposed text, because letters of both cases do not compose alike, and repeats
// it, because folding and decomposing can each give the other something to do.
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

// beforeFold drops what nobody can see, and raises Cherokee letters: cases.Fold swaps their two
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

// invisible holds for format characters, fillers and variation selectors. With them two names could
// look the same and differ.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// CheckID says why a string cannot be the id of a new agent, or nil.
func CheckID(id string) error {
	return cmp.Or(CheckKnownID(id), CheckNotShortName(id))
}

// CheckKnownID is CheckID for an agent that may have its id since before short names.
func CheckKnownID(id string) error {
	if !slug.MatchString(id) {
		return Errorf(BadInput, "%q is not an agent id", clip(id)).
			Suggest("an id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return checkReserved(id)
}

// CheckChannelName says why a string cannot be the name of a new channel, or nil.
func CheckChannelName(name string) error {
	return cmp.Or(CheckKnownChannelName(name), CheckNotShortName(name))
}

// CheckKnownChannelName is CheckChannelName for a channel that may have its name since before short names. A name that looks like
// the id of a conversation could not be found by it.
func CheckKnownChannelName(name string) error {
	if !slug.MatchString(name) || IsUUID(name) {
		return Errorf(BadInput, "%q is not a channel name", clip(name)).
			Suggest("a channel name is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	return nil
}

// CheckName says why a string cannot be the new display name of an agent, or nil.
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

// retiredMark is in the id and name of a removed agent whose names another has taken. No other id has it, and no other name.
const retiredMark = "~removed"

// RetiredName is what a removed agent is called from then on by its id or name, when another takes that: arya~removed, and
// arya~removed-2 where that is taken too.
func RetiredName(name string, n int) string {
	if n < 2 {
		return name + retiredMark
	}
	return name + retiredMark + "-" + strconv.Itoa(n)
}

// OriginalName is what an agent was called when it was added, whether or not another has taken its names since.
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
			found = append(found, near{name, min(difference, 1)}) // it goes on as begun
		case max(difference, -difference) <= reach: // else it is too far, whatever its letters
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

// DidYouMean turns near names into a suggestion, or says how to see all of them.
func DidYouMean(near []string, otherwise string) string {
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

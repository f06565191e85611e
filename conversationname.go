package parley

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxDisplayRunes is how long the display name of a conversation may be.
const maxDisplayRunes = 120

// ConversationName turns what a person has typed as the name of a conversation into its name and its display name: "Project X"
// becomes project-x and Project X. The display name is empty where it would say no more than the name. E003 if the text cannot
// be a name, or if no name can be made of its letters.
func ConversationName(typed string) (name, display string, err error) {
	text := strings.TrimPrefix(strings.TrimSpace(typed), "#")
	if text != "" && prefix(text, isSlugRune) == len(text) { // which nobody would type for people to read
		return text, "", CheckChannelName(text)
	}
	if display, err = checkDisplay(text); err != nil {
		return "", "", err
	}
	name, whole := Slug(display)
	if !whole {
		return "", "", Errorf(BadInput, "no channel name can be made of %q", clip(display)).
			Suggest(`give both: a name of a-z, 0-9, _ and -, and %q as the display name`, clip(display))
	}
	return name, display, CheckChannelName(name)
}

func isSlugRune(r rune) bool { return isIDRune(r) && (r < 'A' || r > 'Z') }

// ConversationDisplay checks the display name that a conversation with this name is to have, and returns it as it is stored: empty
// where it says no more than the name.
func ConversationDisplay(name, typed string) (string, error) {
	if strings.TrimSpace(typed) == "" || typed == name {
		return "", nil
	}
	display, err := checkDisplay(typed)
	if err != nil {
		return "", err
	}
	if derived, whole := Slug(display); whole && derived != name { // which must be no name of another kind of thing either
		err = CheckChannelName(derived)
	}
	return display, err
}

// checkDisplay returns a display name with single spaces between its words. It refuses one that could be taken for another line,
// for another form of naming a conversation, or for a name that looks the same.
func checkDisplay(text string) (string, error) {
	switch {
	case !utf8.ValidString(text) || len(text) > 4*maxDisplayRunes || utf8.RuneCountInString(text) > maxDisplayRunes:
		return "", Errorf(BadInput, "%q is not a display name", clip(strings.ToValidUTF8(text, "?"))).
			Suggest("a display name has 1 to %d characters", maxDisplayRunes)
	case strings.ContainsFunc(text, unseen):
		return "", Errorf(BadInput, "the display name %q has a line break or an invisible character", clip(text)).Suggest("leave it out")
	}
	display := norm.NFC.String(strings.Join(strings.Fields(text), " "))
	switch {
	case Fold(display) == "":
		return "", Errorf(BadInput, "the name is empty").Suggest(`give a name, like project-x or "Project X"`)
	case strings.ContainsAny(display[:1], "@#") || strings.Contains(display, between) || IsUUID(display) || ofKind(display):
		return "", Errorf(BadInput, "the display name %q looks like another way to name a conversation", clip(display)).
			Suggest("begin it with a letter, and leave out @, # and %s", between)
	}
	return display, nil
}

// between stands between the members of a conversation that has no name, where it is shown by them.
const between = "↔"

// ofKind says whether a text begins like the title of a conversation without a name: its kind and its id.
func ofKind(text string) bool {
	kind, id, two := strings.Cut(text, " ")
	return two && IsUUID(id) && isKind(kind)
}

func isKind(word string) bool {
	switch ConversationKind(word) {
	case Channel, Group, DM, Ephemeral:
		return true
	default:
		return false
	}
}

// spelled are letters that Unicode takes for letters of their own, as English writes them.
var spelled = map[rune]string{
	'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ħ': "h", 'ı': "i", 'ł': "l", 'ŋ': "n", 'þ': "th", 'ŧ': "t",
}

// Slug makes a channel name of a text: letters without accents, in lower case, and - for everything between them. whole is false
// if there is a letter or digit that it cannot spell, or none at all.
func Slug(text string) (name string, whole bool) {
	var out strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(Fold(norm.NFC.String(text))) {
		letters := spelled[r]
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_':
			letters = string(r)
		case letters != "":
		case unicode.IsMark(r) || r == '\'' || r == '’':
			continue // an accent, or as in "don't"
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			return "", false
		default:
			gap = true
			continue
		}
		if gap && out.Len() > 0 {
			out.WriteByte('-')
		}
		gap = false
		out.WriteString(letters)
	}
	name = strings.TrimLeft(out.String(), "_")
	if len(name) > maxNameRunes {
		name = strings.TrimRight(name[:maxNameRunes], "-_")
	}
	return name, name != ""
}

// ConversationRef is what somebody has written to name a conversation, taken apart: one of the two is set.
type ConversationRef struct {
	Name    string   // an id, a name, #name or display name
	Members []string // by whom a conversation without a name is shown
	Mine    bool     // the caller is one of the members, and not among those named: @arya
}

// ParseConversationRef takes apart how lists show a conversation: its id, name, #name, display name, "dm ID", "@arya,gendry" or
// "arya ↔ gendry".
func ParseConversationRef(ref string) ConversationRef {
	if rest, direct := strings.CutPrefix(ref, "@"); direct {
		return ConversationRef{Members: splitNames(rest, ","), Mine: true}
	}
	if strings.Contains(ref, between) {
		return ConversationRef{Members: splitNames(ref, between)}
	}
	if ofKind(ref) {
		_, ref, _ = strings.Cut(ref, " ")
	}
	return ConversationRef{Name: strings.TrimPrefix(ref, "#")}
}

func splitNames(text, separator string) (names []string) {
	for name := range strings.SplitSeq(text, separator) {
		names = append(names, strings.TrimPrefix(strings.TrimSpace(name), "@"))
	}
	return names
}

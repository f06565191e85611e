package parley

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxDisplayRunes is the longest display name of a conversation, in characters.
const maxDisplayRunes = 120

// ConversationName makes a name and a display name from a typed name: "Project X" becomes project-x and Project X. The display
// name is empty if it would equal the name. It returns E003 if the text cannot be a name, or if Slug cannot make a name of it.
func ConversationName(typed string) (name, display string, err error) {
	text := strings.TrimPrefix(strings.TrimSpace(typed), "#")
	if text != "" && prefixLen(text, isSlugRune) == len(text) { // the text already has the form of a name, so there is no display name
		return text, "", CheckChannelName(text)
	}
	if display, err = checkDisplay(text); err != nil {
		return "", "", err
	}
	name, whole := Slug(display)
	if !whole {
		return "", "", Errorf(BadInput, "no channel name can be made from %q", clip(display)).
			Suggest(`give both: a name of a-z, 0-9, _ and -, and %q as the display name`, clip(display))
	}
	return name, display, CheckChannelName(name)
}

func isSlugRune(r rune) bool { return isIDRune(r) && (r < 'A' || r > 'Z') }

// ConversationDisplay checks a display name for a conversation with this name, and returns it as the hub stores it: empty if
// it equals the name.
func ConversationDisplay(name, typed string) (string, error) {
	if strings.TrimSpace(typed) == "" || typed == name {
		return "", nil
	}
	display, err := checkDisplay(typed)
	if err != nil {
		return "", err
	}
	if derived, whole := Slug(display); whole && derived != name { // the derived name must not be a short name either
		err = CheckChannelName(derived)
	}
	return display, err
}

// checkDisplay returns a display name with single spaces between its words. It refuses a name that looks like more than one line
// or like another way to refer to a conversation.
func checkDisplay(text string) (string, error) {
	switch {
	case !utf8.ValidString(text) || len(text) > 4*maxDisplayRunes || utf8.RuneCountInString(text) > maxDisplayRunes:
		return "", Errorf(BadInput, "%q is not a display name", clip(strings.ToValidUTF8(text, "?"))).
			Suggest("a display name has 1 to %d characters", maxDisplayRunes)
	case strings.ContainsFunc(text, isControlOrFormat):
		return "", Errorf(BadInput, "the display name %q has a line break or an invisible character", clip(text)).Suggest("remove it")
	}
	display := norm.NFC.String(strings.Join(strings.Fields(text), " "))
	switch {
	case Fold(display) == "":
		return "", Errorf(BadInput, "the name is empty").Suggest(`give a name, like project-x or "Project X"`)
	case strings.ContainsAny(display[:1], "@#") || strings.Contains(display, titleSeparator) || IsUUID(display) || isKindAndID(display):
		return "", Errorf(BadInput, "the display name %q looks like another way to name a conversation", clip(display)).
			Suggest("begin it with a letter, and leave out @, # and %s", titleSeparator)
	}
	return display, nil
}

// titleSeparator separates the members in the title of a conversation without a name.
const titleSeparator = "↔"

// isKindAndID reports whether a text is the title of a conversation without a name: its kind and its id.
func isKindAndID(text string) bool {
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

// spellings maps letters that Unicode does not decompose to their English spelling.
var spellings = map[rune]string{
	'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ħ': "h", 'ı': "i", 'ł': "l", 'ŋ': "n", 'þ': "th", 'ŧ': "t",
}

// Slug makes a channel name from a text: letters without accents, in lower case, with - between words. whole is false if the
// text has a letter or digit that Slug cannot spell, or if it has no letters and digits.
func Slug(text string) (name string, whole bool) {
	var out strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(Fold(norm.NFC.String(text))) {
		letters := spellings[r]
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_':
			letters = string(r)
		case letters != "":
		case unicode.IsMark(r) || r == '\'' || r == '’':
			continue // an accent, or an apostrophe as in "don't"
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

// ConversationRef is a parsed reference to a conversation. Either Name or Members is set.
type ConversationRef struct {
	Name    string   // an id, a name, #name or display name
	Members []string // the members in the title of a conversation without a name
	Mine    bool     // the caller is a member beside Members, as in @arya
}

// ParseConversationRef parses the ways in which lists show a conversation: id, name, #name, display name, "dm ID",
// "@arya,gendry" and "arya ↔ gendry".
func ParseConversationRef(ref string) ConversationRef {
	if rest, direct := strings.CutPrefix(ref, "@"); direct {
		return ConversationRef{Members: splitNames(rest, ","), Mine: true}
	}
	if strings.Contains(ref, titleSeparator) {
		return ConversationRef{Members: splitNames(ref, titleSeparator)}
	}
	if isKindAndID(ref) {
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

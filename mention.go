package parley

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions are the names that a text mentions, before Resolve finds the participants with these names.
type Mentions struct {
	leading string    // the word at the start of the text, if it may be an id
	afterAt []mention // the names after an @, each once, in the order of the text
}

// ParseMentions finds the names that a text mentions. An @ begins a mention unless it is in code or in an e-mail address. An id
// at the very beginning of the text is a mention too, if a comma, a colon, white space or the end of the text follows.
func ParseMentions(text string) Mentions {
	m := Mentions{leading: strings.ToLower(leadingWord(text))}
	if strings.Contains(text, "@") {
		m.afterAt = mentionsIn(text)
	}
	return m
}

// Under returns the mentions of a text that consists of a header of one line, an empty line, and the text of m. No word of a header
// in square brackets stands at the start of the text, and code does not reach over an empty line into a paragraph before it.
func (m Mentions) Under(header string) Mentions {
	above := ParseMentions(header)
	for _, below := range m.afterAt {
		if !slices.ContainsFunc(above.afterAt, func(known mention) bool { return known.word == below.word }) {
			above.afterAt = append(above.afterAt, below)
		}
	}
	return above
}

// Len returns the number of names after an @.
func (m Mentions) Len() int { return len(m.afterAt) }

// Resolve returns the ids of the mentioned participants, each once, in the order of the text, and the names that no participant
// has. find returns the id of the participant with a name. The first word of the text counts only if isID returns true for it.
func (m Mentions) Resolve(find func(name string) (id string, ok bool), isID func(word string) bool) (ids, unknown []string) {
	found := map[string]bool{}
	add := func(id string) {
		if !found[id] {
			found[id] = true
			ids = append(ids, id)
		}
	}
	if m.leading != "" && isID(m.leading) {
		add(m.leading)
	}
	for _, mentioned := range m.afterAt {
		if id, ok := mentioned.resolve(find); ok {
			add(id)
		} else {
			unknown = append(unknown, mentioned.word)
		}
	}
	return ids, unknown
}

// mention is the text after an @. The name ends at the first character that cannot be in an id. The word ends at the first
// character that is no letter, digit, _ or -, because a display name may contain letters of any script.
type mention struct{ name, word string }

// resolve finds the participant with the word or, if there is none, with the name.
func (m mention) resolve(find func(string) (string, bool)) (string, bool) {
	if m.word != m.name {
		if id, ok := find(m.word); ok {
			return id, true
		}
	}
	if m.name == "" {
		return "", false
	}
	return find(m.name)
}

func mentionsIn(text string) []mention {
	var found []mention
	seen := map[string]bool{}
	code := codeRanges(text)
	for at := range len(text) {
		if text[at] != '@' {
			continue
		}
		for len(code) > 0 && code[0].end <= at {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start <= at || addressBefore(text[:at]) {
			continue
		}
		rest := text[at+1:]
		name := rest[:prefixLen(rest, isIDRune)]
		word := rest[:prefixLen(rest, isWordRune)]
		if word == "" || strings.HasPrefix(rest[len(word):], "@") && prefixLen(rest[len(word)+1:], isIDRune) > 0 {
			continue // a lone @, or the local part of an address: @codex@example.com
		}
		if len(word) > maxAddress {
			word = name // in a script without spaces, the text may continue directly after the name
		}
		if word != "" && len(word) <= maxAddress && !seen[word] {
			seen[word] = true
			found = append(found, mention{name, word})
		}
	}
	return found
}

// addressBefore reports whether the text before an @ ends like the local part of an e-mail address. A letter of a script without
// spaces is no such end, because a word may end directly before a mention.
func addressBefore(text string) bool {
	text = strings.TrimRightFunc(text, unicode.IsMark) // an accent belongs to the letter before it
	r, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case text == "":
		return false
	case strings.ContainsRune("_%+-", r), '0' <= r && r <= '9':
		return true
	default:
		return unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
	}
}

// leadingWord returns the word at the start of a text, or "" if the word cannot be a mention.
func leadingWord(text string) string {
	word := text[:prefixLen(text, isIDRune)]
	if rest := text[len(word):]; rest != "" && !strings.ContainsAny(rest[:1], ",: \t\r\n") {
		return ""
	}
	return word
}

func prefixLen(s string, in func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); i >= 0 {
		return i
	}
	return len(s)
}

func isIDRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

func isWordRune(r rune) bool {
	return isIDRune(r) || r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

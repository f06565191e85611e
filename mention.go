package parley

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions are the names that a text mentions, before they are resolved to participants.
type Mentions struct {
	leading string    // the word the text starts with, if it may be an id
	called  []mention // what follows each @, each word once, in the order of the text
}

// ParseMentions finds the names that a text mentions. An @ begins a mention unless it is in code or in
// an e-mail address. The name ends at the first character that no id has. A text may also start with an id
// that a comma, a colon, a space or the end of the text follows.
func ParseMentions(text string) Mentions {
	m := Mentions{leading: strings.ToLower(leadingWord(text))}
	if strings.Contains(text, "@") {
		m.called = mentionsIn(text)
	}
	return m
}

// Len returns how many names must be resolved.
func (m Mentions) Len() int { return len(m.called) }

// Resolve returns the ids of the mentioned participants, each once, in the order of the text, and the names
// that belong to nobody. named resolves a name to an id. The first word of a text counts only
// if participant returns true for it.
func (m Mentions) Resolve(named func(string) (string, bool), participant func(id string) bool) (ids, unknown []string) {
	found := map[string]bool{}
	note := func(id string) {
		if !found[id] {
			found[id] = true
			ids = append(ids, id)
		}
	}
	if m.leading != "" && participant(m.leading) {
		note(m.leading)
	}
	for _, called := range m.called {
		if id, ok := called.resolve(named); ok {
			note(id)
		} else {
			unknown = append(unknown, called.word)
		}
	}
	return ids, unknown
}

// mention is the text after an @: name ends at the first character that no id has; word, because a
// display name may hold any letter, ends at the end of the word.
type mention struct{ name, word string }

func (m mention) resolve(named func(string) (string, bool)) (string, bool) {
	if m.word != m.name {
		if id, ok := named(m.word); ok {
			return id, true
		}
	}
	if m.name == "" {
		return "", false
	}
	return named(m.name)
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
		name := rest[:prefix(rest, isIDRune)]
		word := rest[:prefix(rest, isWordRune)]
		if word == "" || strings.HasPrefix(rest[len(word):], "@") && prefix(rest[len(word)+1:], isIDRune) > 0 {
			continue // a lone @, or the local part of an address: @codex@example.com
		}
		if len(word) > maxAddress {
			word = name // a text in a script without spaces may continue right after the name
		}
		if word != "" && len(word) <= maxAddress && !seen[word] {
			seen[word] = true
			found = append(found, mention{name, word})
		}
	}
	return found
}

// addressBefore reports whether the text before an @ ends like the local part of an e-mail address.
// In scripts without spaces, a word may end right before a mention.
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

func leadingWord(text string) string {
	word := text[:prefix(text, isIDRune)]
	if rest := text[len(word):]; rest != "" && !strings.ContainsAny(rest[:1], ",: \t\r\n") {
		return ""
	}
	return word
}

func prefix(s string, in func(rune) bool) int {
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

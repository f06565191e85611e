package parley

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions are the names a text calls, before anybody has looked up whose they are.
type Mentions struct {
	leading string    // the word the text starts with, if it may be an id
	called  []mention // what follows each @, each word once, in the order of the text
}

// ParseMentions finds the names a text calls. An @ begins a mention unless it stands in code or in
// an e-mail address, and the name ends at a character no id has. A text may also start with an id,
// followed by a comma, a colon, a space or its end.
func ParseMentions(text string) Mentions {
	m := Mentions{leading: strings.ToLower(leadingWord(text))}
	if strings.Contains(text, "@") {
		m.called = mentionsIn(text)
	}
	return m
}

// Len is how many names there are to look up.
func (m Mentions) Len() int { return len(m.called) }

// Resolve looks the names up: who is mentioned, each once, in the order of the text, and the names
// that resolve to nobody. named resolves a name to an id; the word a text starts with counts only
// if participant holds for it.
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

// mention is one @ with what follows it: up to the first character no id has, and, because a
// display name may hold any letter, up to the end of the word.
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
			word = name // a text in a script without spaces may go on right after the name
		}
		if word != "" && len(word) <= maxAddress && !seen[word] {
			seen[word] = true
			found = append(found, mention{name, word})
		}
	}
	return found
}

// addressBefore says whether the text before an @ ends like the local part of an e-mail address.
// Scripts without spaces between words may stand right before a mention.
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

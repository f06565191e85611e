package chat

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// completion has the words that can complete the word before the cursor. Pressing the key again takes the next one.
type completion struct {
	words  []string
	chosen int
}

// complete replaces the word before the cursor by the next completion.
func (m *Model) complete(step int) {
	if len(m.completion.words) == 0 {
		word := lastWord(m.input.before())
		words := m.candidates(word)
		if len(words) == 0 {
			return
		}
		m.completion = completion{words: words}
		if step < 0 {
			m.completion.chosen = len(words) - 1
		}
		m.replace(word)
		return
	}
	before := m.completion.words[m.completion.chosen] + " "
	m.completion.chosen = (m.completion.chosen + step + len(m.completion.words)) % len(m.completion.words)
	m.replace(before)
}

// replace replaces a word before the cursor by the chosen completion.
func (m *Model) replace(word string) {
	m.input.cut(m.input.cursor - len(clusters(word)))
	m.input.insert(m.completion.words[m.completion.chosen] + " ")
}

// lastWord returns the last word of a text, which may be empty.
func lastWord(text string) string {
	at := strings.LastIndexAny(text, " \n\t(,;:")
	_, size := utf8.DecodeRuneInString(text[max(at, 0):])
	if at < 0 {
		size, at = 0, 0
	}
	return text[at+size:]
}

// candidates returns the mentions that complete a word or, at the start of the text, the commands.
func (m *Model) candidates(word string) (found []string) {
	if prefix, ok := strings.CutPrefix(word, "/"); ok && m.input.before() == word {
		for _, c := range commands {
			if strings.HasPrefix(c.name, prefix) {
				found = append(found, "/"+c.name)
			}
		}
		return found
	}
	prefix, ok := strings.CutPrefix(word, "@")
	if !ok {
		return nil
	}
	prefix = parley.Fold(prefix)
	for _, p := range append(slices.Clone(m.conversation.Known), parley.Presence{ID: parley.All, Name: parley.All}) {
		if strings.HasPrefix(p.ID, prefix) || strings.HasPrefix(parley.Fold(p.Name), prefix) {
			found = append(found, "@"+p.ID)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

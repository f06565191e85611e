package memory

import (
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/search"
)

// The bounds of the notes in one prompt, and of the text that they are compared with.
const (
	maxOffered      = 8
	maxOfferedBytes = 8 << 10
	maxCompared     = 16 << 10
)

// Matching returns the notes for the prompt of a run: those of the agent and of the conversation that match a text best. It leaves
// out damaged notes, and notes that do not fit.
func Matching(u *unit.Unit, agent, conversation, text string) (list []parley.Note, err error) {
	all, err := u.Notes().Of(agent, conversation)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	words := search.WordSet(text[:min(len(text), maxCompared)])
	for word := range commonWords {
		delete(words, word)
	}
	room := maxOfferedBytes
	for _, n := range best(words, all) {
		if len(n.Text) > room {
			continue
		}
		room -= len(n.Text)
		if list = append(list, n); len(list) == maxOffered {
			break
		}
	}
	return list, nil
}

// commonWords are words that nearly every English text has: a note does not match because of them. Who recalls notes by such a word
// finds them.
var commonWords = search.WordSet(strings.Join([]string{
	"a about after all also am an and any are as at be because been but by can could did do does for from get had has have he her here",
	"him his how i if in into is it its just let me my no not now of on one or our out please said say she should so some than that the",
	"their them then there these they this to too up us was we were what when where which who why will with would you your",
}, " "))

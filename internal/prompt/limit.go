package prompt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// bytesPerToken is the average size of a token of English text. In other scripts, the same number of bytes may be twice as many
// tokens, so a limit is an estimate.
const bytesPerToken = 4

// messages returns the history, the input of the task, and the triggers, cut to the agent's limit of tokens. It first drops the
// oldest messages of the history. Then it shortens the texts of the input and of the triggers, but never drops one.
func (b *builder) messages() (history, input, triggers string) {
	room := math.MaxInt
	if limit := b.Agent.ContextTokens; limit > 0 {
		room = limit * bytesPerToken
	}
	all := b.inputPieces()
	first := len(all)
	for _, m := range b.Triggers {
		all = append(all, b.messagePiece(m))
	}
	shorter := make([]string, len(all))
	for i, share := range divideRoom(all, room) {
		shorter[i] = all[i].whole
		if len(shorter[i]) > share {
			shorter[i] = all[i].short(share)
		}
	}
	input, triggers = strings.Join(shorter[:first], ""), strings.Join(shorter[first:], "")
	if input != "" {
		input = "You were given:\n" + input
	}
	shown, left := b.participants.Fit(b.history(), max(0, room-len(input)-len(triggers)))
	if left > 0 {
		history = fmt.Sprintf("(%d older messages are left out)\n", left)
	}
	return history + strings.Join(shown, ""), input, triggers
}

// piece is a text that the prompt contains whole, or shortened if it does not fit.
type piece struct {
	whole string
	short func(limit int) string // returns the text in at most limit bytes
}

func (b *builder) messagePiece(m parley.Message) piece {
	return piece{b.participants.Message(m), func(limit int) string { return b.participants.ShortMessage(m, limit) }}
}

// divideRoom divides space among pieces. Larger pieces get what smaller ones do not need.
func divideRoom(pieces []piece, room int) []int {
	order := make([]int, len(pieces))
	for i := range pieces {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(len(pieces[i].whole), len(pieces[j].whole)) })
	shares := make([]int, len(pieces))
	for n, i := range order {
		shares[i] = room / (len(order) - n)
		room -= min(shares[i], len(pieces[i].whole))
	}
	return shares
}

// history returns the history without the messages that other sections show.
func (b *builder) history() []parley.Message {
	elsewhere := map[string]bool{}
	for _, m := range slices.Concat(b.Triggers, b.Earlier) {
		elsewhere[m.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(b.History), func(m parley.Message) bool { return elsewhere[m.ID] })
}

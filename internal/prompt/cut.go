package prompt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// bytesPerToken is what a token of English text has on average. In other scripts the same bytes may be up to
// twice as many tokens: a limit is an estimate.
const bytesPerToken = 4

// messages are the history and the triggers, cut to the agent's limit of tokens: first the oldest of the
// history goes, at last the triggers are shortened. None of these is left out.
func (b *builder) messages() (history, triggers string) {
	room := math.MaxInt
	if limit := b.Agent.ContextTokens; limit > 0 {
		room = limit * bytesPerToken
	}
	var answer strings.Builder
	for i, share := range b.shares(room) {
		answer.WriteString(b.voices.Short(b.Triggers[i], share))
	}
	shown, left := b.voices.Fit(b.past(), max(0, room-answer.Len()))
	if left > 0 {
		history = fmt.Sprintf("(%d older messages left out)\n", left)
	}
	return history + strings.Join(shown, ""), answer.String()
}

// shares divides room among the triggers. What a small one does not need, the larger ones get.
func (b *builder) shares(room int) []int {
	sizes, order := make([]int, len(b.Triggers)), make([]int, len(b.Triggers))
	for i, m := range b.Triggers {
		sizes[i], order[i] = len(b.voices.Message(m)), i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sizes[i], sizes[j]) })
	shares := make([]int, len(sizes))
	for n, i := range order {
		shares[i] = room / (len(order) - n)
		room -= min(shares[i], sizes[i])
	}
	return shares
}

// past is the history without what is shown elsewhere.
func (b *builder) past() []parley.Message {
	elsewhere := map[string]bool{}
	for _, m := range slices.Concat(b.Triggers, b.Earlier) {
		elsewhere[m.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(b.History), func(m parley.Message) bool { return elsewhere[m.ID] })
}

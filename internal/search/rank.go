package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// The weights of the score of a message. A message scores higher if the phrases occur more often, up to a limit; if the message
// is shorter; if the phrases are close together; if they occur as the user typed them; and if the message is newer.
const (
	saturation  = 1.2
	usualLength = 100 // words
	freshness   = 0.5
	halfAge     = 30 * 24 * time.Hour // the age at which freshness counts half as much
)

// Rank returns the messages in the order of their score, the best first. Without phrases, and among equal scores, the newest is
// first.
func Rank(phrases []parley.Phrase, list []parley.Message, now time.Time) []parley.Message {
	type scored struct {
		parley.Message
		score float64
	}
	all := make([]scored, len(list))
	for i, m := range list {
		all[i].Message = m
		if len(phrases) > 0 {
			all[i].score = score(phrases, m, now)
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Seq, a.Seq))
	})
	ranked := make([]parley.Message, len(all))
	for i, s := range all {
		ranked[i] = s.Message
	}
	return ranked
}

func score(phrases []parley.Phrase, m parley.Message, now time.Time) float64 {
	var (
		counts  = make([]int, len(phrases)) // how often each phrase occurs
		typed   = wholePhrase(phrases)
		length  int
		closest float64
		exact   bool
	)
	for _, f := range Fields(m) {
		tokens := tokensOf(f.Text, maxPlaces-length)
		length += len(tokens)
		found := occurrences(phrases, tokens)
		for _, o := range found {
			counts[o.phrase]++
		}
		closest = max(closest, proximity(phrases, found))
		exact = exact || len(phrases) > 1 && len(occurrences([]parley.Phrase{typed}, tokens)) > 0
	}
	total := 0.0
	for _, n := range counts {
		count, lengthFactor := float64(n), 0.5+0.5*float64(length)/usualLength
		total += count * (saturation + 1) / (count + saturation*lengthFactor) / float64(len(counts))
	}
	if exact {
		total++
	}
	age := max(0, now.Sub(m.CreatedAt))
	return total + closest + freshness*float64(halfAge)/float64(halfAge+age)
}

// wholePhrase returns the phrases of a query as one phrase.
func wholePhrase(phrases []parley.Phrase) (whole parley.Phrase) {
	for i, p := range phrases {
		if i > 0 {
			whole.Words = append(whole.Words, secondOfPair(whole.Words[len(whole.Words)-1])...)
		}
		whole.Words = append(whole.Words, p.Words...)
		whole.Prefix = p.Prefix
	}
	return whole
}

// secondOfPair returns the second character of a pair as a word. In a message, this word follows the pair; see Token.Last. It
// returns nil if the word is not a pair.
func secondOfPair(word string) []string {
	second := nextCharacter(word, 0)
	if r, _ := utf8.DecodeRuneInString(word); classOf(r) != unspacedScript || second == len(word) {
		return nil
	}
	return []string{word[second:]}
}

// tokensOf returns the first words of a text, at most limit.
func tokensOf(text string, limit int) []Token {
	list := make([]Token, 0, min(limit, len(text)/4+1))
	for t := range Tokens(text) {
		if len(list) >= limit {
			break
		}
		list = append(list, t)
	}
	return list
}

// occurrence is the position of a phrase in a list of tokens: from is the index of its first token, to the index after its last
// token.
type occurrence struct{ phrase, from, to int }

// occurrences returns all occurrences of the phrases, in the order of their first token.
func occurrences(phrases []parley.Phrase, tokens []Token) (found []occurrence) {
	for at := range tokens {
		for i, p := range phrases {
			if to := matchAt(p, tokens, at); to > 0 {
				found = append(found, occurrence{i, at, to})
			}
		}
	}
	return found
}

// matchAt returns the index after the last token of a phrase that begins at a token, or 0 if the phrase does not begin there.
func matchAt(p parley.Phrase, tokens []Token, at int) int {
	last := len(p.Words) - 1
	if last > 0 && tokens[at].Single {
		return 0
	}
	for i, word := range p.Words {
		for i > 0 && at < len(tokens) && tokens[at].Single {
			at++
		}
		if at == len(tokens) {
			return 0
		}
		got := tokens[at].Word
		begins := p.Prefix && i == last && strings.HasPrefix(got, word)
		if got != word && !begins {
			return 0
		}
		at++
	}
	return at
}

// proximity returns 1 if all phrases follow one another directly, and less the further apart they are. It returns 0 if a phrase
// is missing, or if there is only one.
func proximity(phrases []parley.Phrase, found []occurrence) float64 {
	if len(phrases) < 2 {
		return 0
	}
	size := 0
	for _, p := range phrases {
		size += len(p.Words)
	}
	best, different, counts, first := 0.0, 0, make([]int, len(phrases)), 0 // counts and different: of the phrases from first to o
	for _, o := range found {
		if counts[o.phrase]++; counts[o.phrase] == 1 {
			different++
		}
		for counts[found[first].phrase] > 1 {
			counts[found[first].phrase]--
			first++
		}
		if different == len(phrases) {
			best = max(best, min(1, float64(size)/float64(o.to-found[first].from)))
		}
	}
	return best
}

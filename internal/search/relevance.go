package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// WordSet returns the distinct words of a text, as the tokenizer splits it.
func WordSet(text string) map[string]bool {
	set := map[string]bool{}
	for t := range Tokens(text) {
		if !t.Single {
			set[t.Word] = true
		}
	}
	return set
}

// The constants of BM25: how soon further occurrences of a word stop to count, and how much the length of a text counts.
const (
	wordSaturation = 1.2
	lengthPenalty  = 0.75
)

// Relevant returns the positions of the texts that have at least one of the words, the best first. A text is better if it has more
// of the words, if few other texts have them, and if it is short. Equal texts stay in their order.
//
// It is for lists that fit into memory. It ranks by any word, while Parse and Rank find messages that have all phrases of a query.
func Relevant(words map[string]bool, texts []string) (places []int) {
	all := make([]countedText, len(texts))
	having := map[string]int{} // in how many texts a word occurs
	total := 0
	for i, text := range texts {
		all[i] = countWords(words, text)
		total += all[i].length
		for word := range all[i].counts {
			having[word]++
		}
	}
	usual := float64(max(total, 1)) / float64(max(len(all), 1))
	for i, text := range all {
		for _, word := range slices.Sorted(maps.Keys(text.counts)) { // in a fixed order, because sums of fractions depend on it
			count := text.counts[word]
			rare := math.Log(1 + (float64(len(all)-having[word])+0.5)/(float64(having[word])+0.5))
			long := 1 - lengthPenalty + lengthPenalty*float64(text.length)/usual
			all[i].score += rare * float64(count) * (wordSaturation + 1) / (float64(count) + wordSaturation*long)
		}
		if len(text.counts) > 0 {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(all[b].score, all[a].score) })
	return places
}

// countedText is a text with the occurrences of the words of a query.
type countedText struct {
	length int // in words
	counts map[string]int
	score  float64
}

func countWords(words map[string]bool, text string) countedText {
	c := countedText{counts: map[string]int{}}
	for t := range Tokens(text) {
		if t.Single {
			continue
		}
		if c.length++; words[t.Word] {
			c.counts[t.Word]++
		}
	}
	return c
}

package search_test

import (
	"slices"
	"testing"

	"github.com/parley-hub/parley/internal/search"
)

func TestRelevantTextsComeBestFirst(t *testing.T) {
	texts := []string{
		"The deploy key is in the vault.", "The tests need PostgreSQL.", "Deploy on Fridays? Never deploy on Fridays.", "鍵は金庫にある", "",
		"The vault opens at nine, and at ten, and whenever Ned comes by with the other key of it.",
	}
	for query, want := range map[string][]int{
		"deploy":                {2, 0},
		"Where is the VAULT?":   {0, 5, 1},
		"key of the vault":      {0, 5, 1},
		"fridays":               {2},
		"金庫":                    {3},
		"kubernetes":            nil,
		"":                      nil,
		"PostgreSQL the deploy": {1, 0, 2, 5},
	} {
		if got := search.Relevant(search.WordSet(query), texts); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
}

func TestEquallyRelevantTextsStayInOrder(t *testing.T) {
	if got := search.Relevant(search.WordSet("iron"), []string{"tin", "iron", "iron", "iron"}); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("%v", got)
	}
}

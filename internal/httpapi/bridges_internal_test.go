package httpapi

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// An answer holds only so much, so that a client can read it, but always something.
func TestDeparturesAtOnce(t *testing.T) {
	saying := func(sizes ...int) (list []parley.Departure) {
		for _, size := range sizes {
			list = append(list, parley.Departure{Message: parley.Message{Content: parley.Content{Text: strings.Repeat("x", size)}}})
		}
		return list
	}
	const half = maxDepartures / 2
	for _, test := range []struct {
		list []parley.Departure
		want int
	}{
		{nil, 0},
		{saying(1, 2, 3), 3},
		{saying(half, half), 2},
		{saying(half, half, 1, 1), 2},
		{saying(3*half, 1), 1},
	} {
		if got := len(cutDepartures(test.list)); got != test.want {
			t.Errorf("of %d departures %d are answered, want %d", len(test.list), got, test.want)
		}
	}
}

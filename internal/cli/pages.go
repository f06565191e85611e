package cli

import (
	"iter"
	"slices"
)

// lastItems reads a list to its end and returns its last items.
func lastItems[T any](all iter.Seq2[T, error], limit int) (things []T, err error) {
	for thing, err := range all {
		if err != nil {
			return nil, err
		}
		if len(things) == limit {
			things = slices.Delete(things, 0, 1)
		}
		things = append(things, thing)
	}
	return things, nil
}

// collectItems reads a list to its end, or until it has so many items.
func collectItems[T any](all iter.Seq2[T, error], limit int) (things []T, err error) {
	for thing, err := range all {
		if err != nil {
			return nil, err
		}
		if things = append(things, thing); len(things) == limit {
			break
		}
	}
	return things, nil
}

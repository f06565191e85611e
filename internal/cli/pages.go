package cli

import (
	"iter"
	"slices"
)

// lastItems reads a list to its end and returns its last items.
func lastItems[T any](all iter.Seq2[T, error], limit int) (items []T, err error) {
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		if len(items) == limit {
			items = slices.Delete(items, 0, 1)
		}
		items = append(items, item)
	}
	return items, nil
}

// collectItems reads a list to its end, or until it has read the given number of items.
func collectItems[T any](all iter.Seq2[T, error], limit int) (items []T, err error) {
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		if items = append(items, item); len(items) == limit {
			break
		}
	}
	return items, nil
}

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// Page is a piece of a list. Next continues it, or is empty at its end.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// From says where a page begins, and how long it may be. The zero value is the beginning, as long as the
// hub likes.
type PageRequest struct {
	Cursor string // Page.Next of the page before
	Limit  int
}

func (f PageRequest) query() url.Values {
	return query("cursor", f.Cursor, "limit", count(f.Limit))
}

// All goes through all pages of a list. It ends after an error.
//
//	for letter, err := range client.All(ctx, c.DeadLetters) { … }
func All[T any](ctx context.Context, page func(context.Context, PageRequest) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for from := (PageRequest{}); ; {
			got, err := page(ctx, from)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range got.Items {
				if !yield(item, nil) {
					return
				}
			}
			if got.Next == "" || got.Next == from.Cursor {
				return
			}
			from.Cursor = got.Next
		}
	}
}

// query is made of names and values; what has no value is left out.
func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values
}

// count is a number for a query, where 0 is not given.
func count[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// flag is a yes for a query, where no is not given.
func flag(set bool) string {
	if set {
		return "true"
	}
	return ""
}

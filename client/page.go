package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// Page is a part of a list. Next is the cursor of the next page, or empty at the end of the list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// PageRequest says where a page begins, and how many items it has at most. The zero value requests the first page, with the
// hub's default limit.
type PageRequest struct {
	Cursor string // Next of the page before
	Limit  int
}

func (f PageRequest) query() url.Values {
	return query("cursor", f.Cursor, "limit", count(f.Limit))
}

// All yields the items of a list, and requests page after page. It ends after an error.
//
//	for delivery, err := range client.All(ctx, c.DeadLetters) { … }
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

// query returns a query of names and values in turn. It leaves out a name whose value is empty.
func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values
}

// count returns a number for a query; 0 is left out.
func count[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// flag returns a boolean for a query; false is left out.
func flag(set bool) string {
	if set {
		return "true"
	}
	return ""
}

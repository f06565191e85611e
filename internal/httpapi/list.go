package httpapi

// List is a page of a list.
type List[T any] struct {
	Items []T    `json:"items" doc:"The page."`
	Next  string `json:"next,omitempty" doc:"Continues the list as ?cursor=; absent at its end."`
}

func listOf[T any](items []T, err error) (List[T], error) { return List[T]{Items: items}, err }

// none is the input of an operation that takes nothing.
type none struct{}

// with is the input of an operation that takes a body alone.
type with[T any] struct{ Body T }

// paged is the input of a list that comes in pages.
type paged struct {
	Limit  int    `query:"limit" minimum:"0" doc:"How many to return at most; 0 or absent: the usual number."`
	Cursor string `query:"cursor" doc:"Where to go on: next of the page before."`
}

const (
	usualPage = 50
	mostPage  = 1000
)

// size is how many to ask for.
func (p paged) size() int {
	if p.Limit <= 0 {
		return usualPage
	}
	return min(p.Limit, mostPage)
}

// after is the number to go on after.
func (p paged) after() (int64, error) {
	place, err := at[int64](p.Cursor)
	if place == nil {
		return 0, err
	}
	return *place, nil
}

// numbered is a page of what is ordered by a number.
func numbered[T any](items []T, size int, number func(T) int64) List[T] {
	page := List[T]{Items: items}
	if len(items) >= size {
		page.Next = cursor(number(items[len(items)-1]))
	}
	return page
}

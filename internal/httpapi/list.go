package httpapi

// List is a page of a list.
type List[T any] struct {
	Items []T    `json:"items" doc:"The page."`
	Next  string `json:"next,omitempty" doc:"Pass it as ?cursor= to continue the list. Missing at the end of the list."`
}

func listOf[T any](items []T, err error) (List[T], error) { return List[T]{Items: items}, err }

// noInput is the input of an operation that takes nothing.
type noInput struct{}

// bodyInput is the input of an operation that takes a body alone.
type bodyInput[T any] struct{ Body T }

// pageInput is the input of a list that comes in pages.
type pageInput struct {
	Limit  int    `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: the default."`
	Cursor string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

const (
	usualPage = 50
	maxPage   = 1000
)

// size is how many to ask for.
func (p pageInput) size() int {
	if p.Limit <= 0 {
		return usualPage
	}
	return min(p.Limit, maxPage)
}

// after is the number to go on after.
func (p pageInput) after() (int64, error) {
	place, err := decodeCursor[int64](p.Cursor)
	if place == nil {
		return 0, err
	}
	return *place, nil
}

// pageByNumber is a page of what is ordered by a number.
func pageByNumber[T any](items []T, size int, number func(T) int64) List[T] {
	page := List[T]{Items: items}
	if len(items) >= size {
		page.Next = encodeCursor(number(items[len(items)-1]))
	}
	return page
}

package httpapi

// List is a page of a list.
type List[T any] struct {
	Items []T    `json:"items" doc:"The page."`
	Next  string `json:"next,omitempty" doc:"Pass it as ?cursor= to continue the list. Missing at the end of the list."`
}

func listOf[T any](items []T, err error) (List[T], error) { return List[T]{Items: items}, err }

// noInput is the input of an operation without input.
type noInput struct{}

// bodyInput is the input of an operation that takes only a body.
type bodyInput[T any] struct{ Body T }

// pageInput is the input of a list that comes in pages.
type pageInput struct {
	Limit  int    `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: the default."`
	Cursor string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

const (
	defaultPage = 50
	maxPage     = 1000
)

// size returns how many items the page has at most.
func (p pageInput) size() int {
	if p.Limit <= 0 {
		return defaultPage
	}
	return min(p.Limit, maxPage)
}

// after returns the number after which the page starts.
func (p pageInput) after() (int64, error) {
	place, err := decodeCursor[int64](p.Cursor)
	if place == nil {
		return 0, err
	}
	return *place, nil
}

// pageByNumber returns a page of items that are ordered by a number.
func pageByNumber[T any](items []T, size int, number func(T) int64) List[T] {
	page := List[T]{Items: items}
	if len(items) >= size {
		page.Next = encodeCursor(number(items[len(items)-1]))
	}
	return page
}

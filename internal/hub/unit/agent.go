package unit

import (
	"errors"
)

func SetDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ErrOvertaken says that the agent is not any more what the change was made for.
var ErrOvertaken = errors.New("the agent was changed by somebody else")

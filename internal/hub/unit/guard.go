package unit

import (
	"errors"

	"github.com/parley-hub/parley"
)

func IgnoreNotFound(err error) error {
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}

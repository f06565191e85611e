package conversations

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// TitleOf is what a conversation is called, or its id once it is deleted.
func TitleOf(u *unit.Unit, id string) (string, error) {
	c, err := u.Conversations().Find(id)
	if err != nil {
		return id, unit.IgnoreNotFound(err)
	}
	return c.Title(), nil
}

package unit

import (
	"github.com/parley-hub/parley"
)

// Permissions are the rules of one agent, read once for a use case.
type Permissions struct {
	Of   string
	List []parley.Permission
}

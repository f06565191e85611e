package policy

import (
	"github.com/parley-hub/parley"
)

// HeldPost is a draft that is held, and the document that it has come by, if it has.
type HeldPost struct {
	parley.Draft
	Bridge   string `json:"bridge,omitempty"`
	Document string `json:"document,omitempty"`
}

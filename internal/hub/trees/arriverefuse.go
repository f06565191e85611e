package trees

import (
	"github.com/parley-hub/parley"
)

// DocumentNote is the payload of what the hub tells the sender of a document that became no message. It is where a departure
// finds which document it answers.
type DocumentNote struct {
	Error    *parley.Error `json:"error,omitempty"`
	Document string        `json:"document"`       // its id in the format of the tree
	File     string        `json:"file,omitempty"` // where it was, below the root
	Final    bool          `json:"final"`
}

// TypeIncident is the word of agentos for an error.
const TypeIncident parley.Type = "incident"

// MostTold is how many of the issues of a document its sender is told. All of them are beside the refused file.
const MostTold = 20

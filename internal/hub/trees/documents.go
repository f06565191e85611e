package trees

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// FolderOf is the channel, or the agent in whose inbox a file is.
func FolderOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == "inbox" {
		dir = path.Dir(dir)
	}
	return path.Base(dir)
}

// longestKept is how long a path or a name in a dialect is at most.
const longestKept = 1 << 10

// Keepable says whether every store can keep some texts.
func Keepable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		return len(text) > longestKept || !utf8.ValidString(text) || strings.Contains(text, "\x00")
	})
}

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

package trees

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// FolderOf returns the channel of a file, or the agent in whose inbox it is.
func FolderOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == "inbox" {
		dir = path.Dir(dir)
	}
	return path.Base(dir)
}

// longestKept is how many bytes a path or a name in a dialect has at most.
const longestKept = 1 << 10

// Keepable reports whether every store can keep some texts.
func Keepable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		return len(text) > longestKept || !utf8.ValidString(text) || strings.Contains(text, "\x00")
	})
}

// DocumentNote is the payload of the message by which the hub tells the sender of a document that it became no message. A
// departure reads from it which document the message answers.
type DocumentNote struct {
	Error    *parley.Error `json:"error,omitempty"`
	Document string        `json:"document"`       // its id in the format of the tree
	File     string        `json:"file,omitempty"` // its path below the root
	Final    bool          `json:"final"`
}

// TypeIncident is the message type for an error in the Multi-Agent OS format.
const TypeIncident parley.Type = "incident"

// MostTold is how many issues of a document the hub tells its sender. The file beside the refused document lists all of
// them.
const MostTold = 20

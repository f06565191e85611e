package trees

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
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

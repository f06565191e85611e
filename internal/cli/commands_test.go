package cli

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/tools"
)

// Agents that are programs are told of commands: each must be there.
func TestCommandsNamedToAgentsExist(t *testing.T) {
	root := (&app{}).newRoot()
	for _, doc := range tools.Commands() {
		words := strings.Fields(doc.Name)
		found, rest, err := root.Find(words[1:])
		if err != nil || !found.Runnable() || strings.Join(words[1:len(words)-len(rest)], " ") == "" {
			t.Errorf("%s: %v", doc.Name, err)
		}
	}
}

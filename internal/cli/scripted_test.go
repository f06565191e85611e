package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// leaves are the commands that have none below them, as they are typed.
func leaves(cmd *cobra.Command) (paths []string) {
	for _, below := range cmd.Commands() {
		paths = append(paths, leaves(below)...)
	}
	if len(paths) == 0 {
		return []string{cmd.CommandPath()}
	}
	return paths
}

// TestEveryCommandIsScripted wants a script in which a command does what it is for, and one in which it is refused.
func TestEveryCommandIsScripted(t *testing.T) {
	files, err := filepath.Glob("../../testscript/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts", err)
	}
	var scripts strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	for _, path := range leaves((&app{}).newRoot()) {
		typed := `(parley|hub) (--\S+ \S+ )*` + strings.TrimPrefix(path, "parley ") + `( .*)?$`
		for _, form := range []string{`(?m)^` + typed, `(?m)^exits [1-5] ` + typed} {
			if path == "parley hook" && strings.Contains(form, "exits") {
				continue // a client takes its exit code for an answer, so it is never refused
			}
			if !regexp.MustCompile(form).MatchString(scripts.String()) {
				t.Errorf("no script has %s", form)
			}
		}
	}
}

package cli

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	typed  = regexp.MustCompile("(?m)^ *(?:\\$ )?parley ((?:\"[^\"\n]*\"|[^\n#|<>])+)|`parley ([^`]+)`")
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)
)

// TestDocumentedCommandsExist reads every command that the documents and the examples of other commands tell somebody
// to type: each is there, and so are its flags.
func TestDocumentedCommandsExist(t *testing.T) {
	texts := map[string]string{}
	root := os.DirFS("../..")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := fs.Glob(root, pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(root, file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	each((&app{}).newRoot(), func(cmd *cobra.Command) { texts[cmd.CommandPath()+" --help"] = cmd.Example })
	read := 0
	for where, text := range texts {
		for _, found := range typed.FindAllStringSubmatch(text, -1) {
			read++
			line := found[1] + found[2]
			if err := canBeTyped(quoted.FindAllString(line, -1)); err != nil {
				t.Errorf("%s says parley %s: %v", where, line, err)
			}
		}
	}
	if read < 200 {
		t.Errorf("only %d commands were found", read)
	}
}

func each(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, one := range cmd.Commands() {
		each(one, do)
	}
}

// canBeTyped says what is wrong with a command line, or nil. One of several, like start|stop, stands for all.
func canBeTyped(words []string) error {
	for i, word := range words {
		words[i], _, _ = strings.Cut(word, "|")
	}
	cmd, rest, err := (&app{}).newRoot().Find(words)
	if err != nil {
		return err
	}
	if (!cmd.Runnable() || !cmd.HasParent()) && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && rest[0] != "…" {
		return errors.New("there is no command " + rest[0])
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if given := cmd.Flags().Args(); len(given) > 0 && cmd.Args != nil {
		return cmd.Args(cmd, given)
	}
	return nil
}

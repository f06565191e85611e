package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag of every command is given a value that it cannot read.
func TestNoFlagRepeatsTheWordsOfAParser(t *testing.T) {
	refused := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			err := cmd.Flags().Set(f.Name, `1x"`)
			if err == nil {
				return
			}
			refused++
			for _, leak := range []string{"strconv", "parsing", "parse error", "invalid syntax", "time:"} {
				if text := plainFlagError(err).Error(); strings.Contains(text, leak) {
					t.Errorf("%s --%s says: %s", cmd.CommandPath(), f.Name, text)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, output: formatTable}).newRoot())
	if refused < 50 {
		t.Errorf("only %d flags were tried", refused)
	}
}

// --wait alone waits for the usual time, and --wait=60s for another, wherever a command waits.
func TestWaitIsTheSameFlagEverywhere(t *testing.T) {
	found := map[string]bool{}
	each((&app{}).newRoot(), func(cmd *cobra.Command) {
		wait := cmd.Flags().Lookup("wait")
		if wait == nil {
			return
		}
		found[cmd.CommandPath()] = true
		if wait.Value.Type() != "duration" || !isDuration(wait.NoOptDefVal) {
			t.Errorf("%s takes --wait as a %s, and alone as %q", cmd.CommandPath(), wait.Value.Type(), wait.NoOptDefVal)
		}
	})
	for _, name := range []string{"send", "reply", "ask", "delegate", "wait", "inbox", "agent health"} {
		if !found["parley "+name] {
			t.Errorf("parley %s waits, and has no --wait", name)
		}
	}
}

package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
)

func TestCommandLines(t *testing.T) {
	for _, test := range []struct {
		name, args     string
		code           int
		stdout, stderr string // what each must contain; "" means it must be empty
	}{
		{"version", "version", exitDone, "parley " + parley.Version, ""},
		{"a flag for the version", "--version", exitDone, "parley " + parley.Version + " (go", ""},
		{"a menu", "agent", exitDone, "Examples:\n  parley agent add arya", ""},
		{"a menu is used with a command", "conv", exitDone, "Usage:\n  parley conv [command]\n", ""},
		{"a command that is a menu too", "inbox --help", exitDone, "Usage:\n  parley inbox [flags]\n  parley inbox [command]\n", ""},
		{"a time to wait without waiting", "send arya hello --timeout 5s", exitUsage, "", "--timeout is for --wait"},
		{"help", "--help", exitDone, "Usage:", ""},
		{"nothing is help", "", exitDone, "Usage:", ""},
		{"a typo is named", "versions", exitUsage, "", "did you mean version?"},
		{"an unknown command", "frobnicate", exitUsage, "", "see parley --help"},
		{"an unknown flag", "--frobnicate", exitUsage, "", "unknown flag: --frobnicate"},
		{"too many arguments", "version now", exitUsage, "", `"now" is one argument too many (see parley version --help)`},
		{"too many for up", "up extra", exitUsage, "", `"extra" is one argument too many (see parley up --help)`},
		{"too many words", "send arya two words", exitUsage, "", `"words" is one argument too many; put a text with spaces in quotes`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := Run(strings.Fields(test.args), strings.NewReader(""), &stdout, &stderr)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			check(t, "stdout", stdout.String(), test.stdout)
			check(t, "stderr", stderr.String(), test.stderr)
		})
	}
}

func check(t *testing.T, name, got, want string) {
	t.Helper()
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("%s is %q, want %q in it", name, got, want)
	}
}

func TestExitCodes(t *testing.T) {
	for err, want := range map[error]int{
		usageError{errors.New("x")}:                                            exitUsage,
		parley.Errorf(parley.NotPermitted, ""):                                 exitDenied,
		parley.Errorf(parley.TimedOut, ""):                                     exitTimedOut,
		parley.Errorf(parley.NotPermitted, "").Because(parley.Unauthenticated): exitUnauthenticated,
		parley.Errorf(parley.Unavailable, ""):                                  exitError,
		context.DeadlineExceeded:                                               exitTimedOut,
		parley.Errorf(parley.BadInput, ""):                                     exitError,
		errors.New("anything else"):                                            exitError,
	} {
		if got := exitCode(err); got != want {
			t.Errorf("exitCode(%v) = %d, want %d", err, got, want)
		}
	}
}

// TestEveryCommandExplainsItself looks at all commands there are.
func TestEveryCommandExplainsItself(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		below := cmd.Commands()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s has the short help %q", cmd.CommandPath(), cmd.Short)
		}
		if example := cmd.Example; !strings.Contains(example, cmd.CommandPath()) &&
			!strings.Contains(example, " "+cmd.Name()) {
			t.Errorf("%s has the example %q", cmd.CommandPath(), example)
		}
		if cmd.Args == nil || cmd.RunE == nil && cmd.Run == nil {
			t.Errorf("%s takes any arguments, or does nothing", cmd.CommandPath())
		}
		for _, sub := range below {
			look(sub)
		}
	}
	for _, cmd := range (&app{}).root().Commands() {
		if cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.Name())
		}
		look(cmd)
	}
}

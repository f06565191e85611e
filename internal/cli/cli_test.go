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
		{"a time to wait without waiting", "send arya hello --timeout 5s", exitUsage, "", "--timeout needs --wait"},
		{"a time to wait that follows the flag", "send arya hello --wait 60s", exitUsage, "", "write --wait=60s"},
		{"a time to wait that is none", "send arya hello --wait=soon", exitUsage, "", `invalid argument "soon" for "--wait" flag: write a duration such as 90s, 2h30m or 30d (see parley send --help)`},
		{"a time to wait that follows the flag, in a conversation", "send --conv room hello --wait 60s", exitUsage, "", "write --wait=60s"},
		{"a number that is too small", "agent add arya --runs-per-hour=-1", exitUsage, "", `invalid argument "-1" for "--runs-per-hour" flag: write a whole number of 1 or more, or 0 for no limit (see parley agent add --help)`},
		{"a number that is none", "inbox --limit x", exitUsage, "", `invalid argument "x" for "--limit" flag: write a whole number of 1 or more, such as 20 (see parley inbox --help)`},
		{"a time to wait for health", "agent health arya --wait 10s", exitUsage, "", "write --wait=10s"},
		{"waiting for the health of nobody", "agent health --wait", exitUsage, "", "--wait needs an AGENT"},
		{"costs that are no number", "agent add arya --cost-per-day abc", exitUsage, "", `invalid argument "abc" for "--cost-per-day" flag: write a number such as 2.50, or 0 for no limit (see parley agent add --help)`},
		{"costs below nothing", "agent add arya --cost-per-day=-1", exitUsage, "", "write a number such as 2.50"},
		{"costs without end", "agent add arya --cost-per-day Inf", exitUsage, "", "write a number such as 2.50"},
		{"a switch with a value", "agent remove arya --yes=maybe", exitUsage, "", "write the flag alone, or with =true or =false"},
		{"help", "--help", exitDone, "Usage:", ""},
		{"nothing is help", "", exitDone, "Usage:", ""},
		{"a typo is named", "versions", exitUsage, "", "did you mean version"},
		{"an unknown command", "frobnicate", exitUsage, "", "see parley --help"},
		{"an unknown command with a flag", "agent update ana --mode supervised", exitUsage, "", `unknown command "update" (did you mean set?)`},
		{"a command of a group", "approve approval-6 --note x", exitUsage, "", `unknown command "approve" (did you mean parley approval approve approval-6?)`},
		{"a command of two groups", "deny 6", exitUsage, "", `unknown command "deny" (did you mean parley approval deny, parley permit deny?)`},
		{"a command of many groups", "remove x", exitUsage, "", `unknown command "remove" (see parley --help)`},
		{"an unknown flag of a group", "agent --mode supervised", exitUsage, "", "unknown flag: --mode (see parley agent --help)"},
		{"an unknown flag of a command", "agent set ana --mood supervised", exitUsage, "", "unknown flag: --mood (see parley agent set --help)"},
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
	for _, cmd := range (&app{}).newRoot().Commands() {
		if cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.Name())
		}
		look(cmd)
	}
}

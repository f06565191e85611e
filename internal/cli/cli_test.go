package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestCommandLines(t *testing.T) {
	for _, test := range []struct {
		name, args     string
		code           int
		stdout, stderr string // what each must contain; "" means it must be empty
	}{
		{"version", "version", exitDone, "parley " + parley.Version, ""},
		{"help", "--help", exitDone, "Usage:", ""},
		{"nothing is help", "", exitDone, "Usage:", ""},
		{"a typo is named", "versions", exitUsage, "", "did you mean version?"},
		{"an unknown command", "frobnicate", exitUsage, "", "see parley --help"},
		{"an unknown flag", "--frobnicate", exitUsage, "", "unknown flag: --frobnicate"},
		{"too many arguments", "version now", exitUsage, "", `unknown command "now"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := Run(strings.Fields(test.args), &stdout, &stderr)
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
		usageError{errors.New("x")}:            exitUsage,
		parley.Errorf(parley.NotPermitted, ""): exitDenied,
		parley.Errorf(parley.TimedOut, ""):     exitTimedOut,
		parley.Errorf(parley.BadInput, ""):     exitError,
		errors.New("anything else"):            exitError,
	} {
		if got := exitCode(err); got != want {
			t.Errorf("exitCode(%v) = %d, want %d", err, got, want)
		}
	}
}

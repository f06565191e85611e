package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
)

// Exit codes.
const (
	exitDone            = 0
	exitError           = 1
	exitUsage           = 2
	exitDenied          = 3
	exitUnauthenticated = 4
	exitTimedOut        = 5
	exitInterrupted     = 130
)

// usageError is an error in the command line.
type usageError struct{ error }

// usagef returns a usageError that names the help of the command.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return usageError{fmt.Errorf(format+" (see %s --help)", append(args, cmd.CommandPath())...)}
}

// silentError ends the program with an exit code, after its text has been printed.
type silentError struct{ code int }

func (silentError) Error() string { return "" }

// fail prints an error, and returns the exit code.
func (a *app) fail(ctx context.Context, err error) int {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return exitInterrupted
	}
	if q, ok := errors.AsType[silentError](err); ok {
		return q.code
	}
	_, _ = fmt.Fprintln(a.err, a.program+":", oneLine(err.Error()))
	a.listIssues(err)
	return exitCode(err)
}

// listIssues lists all issues of a payload. The error names only the first.
func (a *app) listIssues(err error) {
	e, ok := errors.AsType[*parley.Error](err)
	if !ok || e.Validation == nil || len(e.Validation.Issues) < 2 {
		return
	}
	for _, issue := range e.Validation.Issues {
		_, _ = fmt.Fprintln(a.err, " -", oneLine(issue))
	}
}

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return exitTimedOut
	}
	switch e := parley.AsError(err); {
	case e.Reason == parley.Unauthenticated:
		return exitUnauthenticated
	case e.Code == parley.NotPermitted:
		return exitDenied
	case e.Code == parley.TimedOut:
		return exitTimedOut
	default:
		return exitError
	}
}

// suggestIfUnknown adds a hint to an error about an unknown name.
func suggestIfUnknown(err error, format string, args ...any) error {
	if err == nil || parley.AsError(err).Reason != parley.NotFound {
		return err
	}
	e, hint := *parley.AsError(err), fmt.Sprintf(format, args...)
	switch {
	case e.Suggestion == "":
		e.Suggestion = hint
	case strings.HasSuffix(e.Suggestion, "?"):
		e.Suggestion += " " + strings.ToUpper(hint[:1]) + hint[1:]
	default:
		e.Suggestion += "; " + hint
	}
	return &e
}

// noArgs refuses arguments. If a command has subcommands, it suggests the one that may be meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || !cmd.HasSubCommands() {
		return argCount(0, 0)(cmd, args)
	}
	return unknownCommand(cmd, args)
}

// argCount requires a minimum and a maximum number of arguments. A maximum of -1 is no limit.
func argCount(minimum, maximum int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minimum:
			return usagef(cmd, "%s is missing", missingArgument(cmd, len(args)))
		case maximum >= 0 && len(args) > maximum:
			return usagef(cmd, "%q is one argument too many%s", args[maximum], quotesHint(cmd))
		default:
			return nil
		}
	}
}

// afterWait refuses a duration that follows --wait as an argument of its own, and then checks the arguments.
func afterWait(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if wait := cmd.Flags().Lookup("wait"); len(given) > 0 && wait.Changed && wait.Value.String() == wait.NoOptDefVal {
			if last := given[len(given)-1]; isDuration(last) {
				return usagef(cmd, "write --wait=%s", last)
			}
		}
		return args(cmd, given)
	}
}

func isDuration(text string) bool {
	_, err := parseDuration(text)
	return err == nil
}

// requireNonEmpty refuses flags that are given but empty, as with an unset variable.
func requireNonEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f.Changed && strings.Trim(f.Value.String(), "[]") == "" {
			return usagef(cmd, "--%s is empty", name)
		}
	}
	return nil
}

// quotesHint returns the hint for too many arguments of a command whose last argument is a text.
func quotesHint(cmd *cobra.Command) string {
	if strings.HasSuffix(strings.Trim(cmd.Use, "[]"), " TEXT") {
		return "; put a text with spaces in quotes"
	}
	return ""
}

// missingArgument returns the name of the n-th argument in the usage of a command.
func missingArgument(cmd *cobra.Command, n int) string {
	names := strings.Fields(cmd.Use)[1:]
	return strings.Trim(names[min(n, len(names)-1)], "[]….")
}

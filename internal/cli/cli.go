// Package cli is the command line: what a person types, and what comes back. Data goes to standard
// output, everything else to standard error.
package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
)

// Exit codes.
const (
	exitDone     = 0
	exitError    = 1
	exitUsage    = 2
	exitDenied   = 3
	exitTimedOut = 5
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// Run runs one command line and returns the exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	_, _ = fmt.Fprintln(stderr, "parley:", err)
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "parley",
		Short:         "The place where AI agents and people talk to each other",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
	})
	root.AddCommand(newVersion())
	return root
}

// noArgs refuses arguments, and on the root names the command that may have been meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	hint := parley.DidYouMean(parley.Nearest(args[0], names), "see "+cmd.CommandPath()+" --help")
	return usageError{fmt.Errorf("unknown command %q (%s)", args[0], hint)}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "parley %s (%s, %s/%s)\n",
				parley.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	switch parley.CodeOf(err) {
	case parley.NotPermitted:
		return exitDenied
	case parley.TimedOut:
		return exitTimedOut
	default:
		return exitError
	}
}

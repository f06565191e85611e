package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// confirm asks on a terminal whether the user means something that cannot be undone. Without a terminal, the user must
// give --yes.
func (a *app) confirm(cmd *cobra.Command, yes bool, question string) error {
	return a.confirmWith(cmd, yes, question, "this cannot be undone, and there is no terminal for a confirmation; add --yes")
}

// confirmWith asks on a terminal. Without a terminal, it refuses with a sentence.
func (a *app) confirmWith(cmd *cobra.Command, yes bool, question, refusal string) error {
	if yes {
		return nil
	}
	if !isTerminal(a.in) || !isTerminal(a.err) {
		return usagef(cmd, "%s", refusal)
	}
	_, _ = fmt.Fprintf(a.err, "%s [y/N] ", oneLine(question))
	answer, err := bufio.NewReader(a.stdin(cmd.Context())).ReadString('\n')
	if err != nil && answer == "" {
		return fmt.Errorf("no answer was given, and nothing was changed: %w", err)
	}
	if word := strings.ToLower(strings.TrimSpace(answer)); word == "y" || word == "yes" {
		return nil
	}
	a.printStderr("nothing was changed")
	return silentError{exitError}
}

// maxInput is the most text, in bytes, that a command reads from standard input.
const maxInput = 1 << 20 // bytes

// readTextArg returns a text of the command line, or standard input if the text is "-".
func (a *app) readTextArg(ctx context.Context, text string) (_ string, err error) {
	if text == "-" {
		if text, err = a.readStdinText(ctx); err != nil {
			return "", err
		}
	}
	if !utf8.ValidString(text) {
		return "", usageError{errors.New("the text is not UTF-8 (send it as a file: --file)")}
	}
	return text, nil
}

// readStdinText reads a text from standard input. On a terminal it first says how to end the text.
func (a *app) readStdinText(ctx context.Context) (string, error) {
	if isTerminal(a.in) {
		a.printStderr("type the message; end it with Ctrl-D")
	}
	raw, err := io.ReadAll(io.LimitReader(a.stdin(ctx), maxInput+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read standard input: %w", err)
	case len(raw) > maxInput:
		return "", usageError{fmt.Errorf("standard input has more than %d KiB (send it as a file: --file)", maxInput>>10)}
	default:
		return strings.TrimRight(string(raw), "\n"), nil
	}
}

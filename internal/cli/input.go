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

// confirm asks on a terminal whether something that cannot be undone is meant. Elsewhere --yes must say so.
func (a *app) confirm(cmd *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	if !isTerminal(a.in) || !isTerminal(a.err) {
		return usagef(cmd, "this cannot be undone, and there is no terminal for a confirmation; add --yes")
	}
	_, _ = fmt.Fprintf(a.err, "%s [y/N] ", oneLine(question))
	answer, err := bufio.NewReader(a.stdin(cmd.Context())).ReadString('\n')
	if err != nil && answer == "" {
		return fmt.Errorf("no answer was given, and nothing was changed: %w", err)
	}
	if word := strings.ToLower(strings.TrimSpace(answer)); word == "y" || word == "yes" {
		return nil
	}
	a.say("nothing was changed")
	return silentError{exitError}
}

const maxInput = 1 << 20 // bytes of a text read from standard input

// readTextArg is a text from the command line, or with - what standard input holds.
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

func (a *app) readStdinText(ctx context.Context) (string, error) {
	if isTerminal(a.in) {
		a.say("type the message; end it with Ctrl-D")
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

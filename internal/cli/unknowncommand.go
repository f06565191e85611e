package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
)

// unknownCommand is the error for words that name no subcommand. It suggests the command that may be meant: one of that name in another
// group, with the same arguments, or one of this group with a similar name or meaning.
func unknownCommand(cmd *cobra.Command, args []string) error {
	near := commandsElsewhere(cmd, args)
	if len(near) == 0 {
		names := commandNames(cmd)
		if near = parley.Nearest(args[0], names); len(near) == 0 {
			near = sameMeaning(args[0], names)
		}
	}
	return usageError{fmt.Errorf("unknown command %q (%s)", args[0], parley.DidYouMean(near, "see "+cmd.CommandPath()+" --help"))}
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, below := range cmd.Commands() {
		names = append(names, below.Name())
	}
	return names
}

// commandsElsewhere returns the command lines that have the first word in the groups below a command, if they are few. Many groups have
// a command to list, to show or to remove.
func commandsElsewhere(cmd *cobra.Command, args []string) (lines []string) {
	for _, group := range cmd.Commands() {
		if slices.Contains(commandNames(group), args[0]) {
			lines = append(lines, group.CommandPath()+" "+args[0])
		}
	}
	if len(lines) > maxElsewhere {
		return nil
	}
	if rest := strings.Join(args[1:], " "); len(lines) == 1 && rest != "" && !strings.ContainsAny(rest, " \t\n'\"$`\\") {
		lines[0] += " " + rest
	}
	return lines
}

// maxElsewhere is in how many groups a command may be for a suggestion.
const maxElsewhere = 2

// meanings are words that people use for commands of other names.
var meanings = [][]string{
	{"set", "update", "edit", "change", "modify", "configure"},
	{"add", "new", "create", "make"},
	{"remove", "delete", "drop", "revoke"},
	{"list", "ls", "all"},
	{"show", "get", "info", "describe", "status"},
}

// sameMeaning returns the commands that mean the same as a word.
func sameMeaning(word string, names []string) (near []string) {
	for _, words := range meanings {
		if !slices.Contains(words, strings.ToLower(word)) {
			continue
		}
		for _, name := range names {
			if slices.Contains(words, name) {
				near = append(near, name)
			}
		}
	}
	return near
}

// flagError is the error for a flag. If the words before the flag name no command, that is what is wrong.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasSubCommands() && cmd.ValidateArgs(args) != nil {
		return unknownCommand(cmd, args)
	}
	return usagef(cmd, "%w", plainFlagError(err))
}

package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// addCobraCommands adds the commands that cobra provides. Like all others, they have examples and refuse unknown words.
func addCobraCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE, cmd.Example = noArgs, showHelp, completionExamples["bash"]
			for _, shell := range cmd.Commands() {
				shell.Example = completionExamples[shell.Name()]
			}
		case "help":
			cmd.Example = "  parley help send\n  parley help conv new"
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				return errors.Join(err, noArgs(found, rest))
			}
		}
	}
}

// completionExamples show how each shell loads its completion.
var completionExamples = map[string]string{
	"bash":       "  source <(parley completion bash)",
	"zsh":        "  source <(parley completion zsh)",
	"fish":       "  parley completion fish | source",
	"powershell": "  parley completion powershell | Out-String | Invoke-Expression",
}

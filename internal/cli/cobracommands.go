package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// addCobraCommands makes those that the library brings along. Like the others they have examples, and refuse
// a word they do not know.
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

// completionExamples is how each shell reads its completion.
var completionExamples = map[string]string{
	"bash":       "  source <(parley completion bash)",
	"zsh":        "  source <(parley completion zsh)",
	"fish":       "  parley completion fish | source",
	"powershell": "  parley completion powershell | Out-String | Invoke-Expression",
}

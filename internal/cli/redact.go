package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) redactCommand() *cobra.Command {
	var reason string
	var yes bool
	cmd := &cobra.Command{
		Use:   "redact ID",
		Short: "Erase the content of a message or a note permanently",
		Long: `Erase the content of a message (its body, its files and its entries in the search index) or the text of a note. The id and
the digest stay.`,
		Example: `  parley redact m1234 --reason "a password"
  parley redact m1234 --yes
  parley redact note-12`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` for the audit log that says why")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(cmd, yes, "Erase the content of "+args[0]+" permanently?"); err != nil {
			return err
		}
		if noun, _, ok := parley.ParseShortName(args[0]); ok && noun == parley.NounNote {
			note, err := c.RedactNote(ctx, args[0], reason)
			if err != nil {
				return err
			}
			return a.printDone(note, "redacted", note.ID)
		}
		redacted, err := c.Redact(ctx, args[0], reason)
		if err != nil {
			return err
		}
		return a.printDone(redacted, "redacted", redacted.ShortName())
	})
	return cmd
}

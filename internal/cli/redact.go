package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
)

func (a *app) redactCommand() *cobra.Command {
	var reason string
	var yes bool
	cmd := &cobra.Command{
		Use:   "redact ID",
		Short: "Erase what a message says, for good",
		Long:  "Erase what a message says: its body, its files and what the search index has of it. Its id and digest stay.",
		Example: `  parley redact m1234 --reason "a password"
  parley redact m1234 --yes`,
		Args:              takes(1, 1),
		ValidArgsFunction: nothing,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit log")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.RunE = a.ask(func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.sure(cmd, yes, "Erase what message "+args[0]+" says for good?"); err != nil {
			return err
		}
		redacted, err := c.Redact(ctx, args[0], reason)
		if err != nil {
			return err
		}
		return a.done(redacted, "redacted", redacted.ShortName())
	})
	return cmd
}

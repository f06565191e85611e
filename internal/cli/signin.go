package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
)

func (a *app) signInCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sign-in [PERSON]",
		Short: "Print a link that signs a browser in once",
		Example: `  parley sign-in
  parley sign-in sam`,
		Args:              argCount(0, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			link, err := c.NewLink(ctx, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.printValue(link, func() {
				a.printWords(link.URL)
				a.printStderr("the link works once, until %s", a.formatTime(link.ExpiresAt))
			})
		}),
	}
}

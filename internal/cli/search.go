package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) searchCommand() *cobra.Command {
	limit := 20
	cmd := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Search all messages that you may read",
		Long: `Search all messages that you may read, best match first. A search has words, "phrases" and these filters:
from: in: to: type: before: after: is:unanswered task: trace:`,
		Example: `  parley search report
  parley search 'from:arya in:project-x "final draft"'
  parley search is:unanswered to:gendry --limit 5`,
		Args:              argCount(1, -1),
		ValidArgsFunction: completeNothing,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			behind := false
			hits, err := collectItems(client.All(ctx, func(ctx context.Context, from client.PageRequest) (client.Page[parley.Hit], error) {
				from.Limit = limit
				found, err := c.Search(ctx, strings.Join(args, " "), from)
				behind = behind || found.Behind
				return found.Page, err
			}), limit)
			if err != nil {
				return err
			}
			if behind {
				a.printStderr("note: the search index does not have your last message yet")
			}
			if len(hits) == 0 && a.output == formatTable {
				a.printStderr("no messages found")
				return nil
			}
			return printList(a, hits,
				column[parley.Hit]{"message", parley.Hit.ShortName},
				column[parley.Hit]{"from", func(h parley.Hit) string { return h.From }},
				column[parley.Hit]{"sent", func(h parley.Hit) string { return a.formatTime(h.CreatedAt) }},
				column[parley.Hit]{"text", func(h parley.Hit) string { return h.Snippet.Text }},
			)
		}),
	}
	cmd.Flags().Var(countFlag{&limit}, "limit", "list at most this `number` of messages")
	return cmd
}

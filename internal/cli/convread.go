package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/chat"
)

func (a *app) convRead() *cobra.Command {
	limit := 20
	cmd := a.convArgCommand("read CONVERSATION", "Show the newest messages of a conversation",
		"  parley conv read project-x\n  parley conv read project-x --limit 100 -o jsonl",
		func(ctx context.Context, c *client.Client, args []string) error {
			messages, err := c.History(ctx, args[0], client.HistoryOptions{Limit: limit})
			if err != nil {
				return err
			}
			if a.output != formatTable || len(messages) == 0 {
				return printList(a, messages)
			}
			form, zone := time.RFC3339, time.UTC
			if isTerminal(a.out) {
				form, zone = time.DateTime, time.Local
			}
			print := chat.PrintLine(form, zone)
			for _, m := range messages {
				if err := print(a.out, m); err != nil {
					return err
				}
			}
			return nil
		})
	cmd.Long = `Show the newest messages of a conversation, and leave them unread. "parley conv export --format markdown" writes the
whole conversation.`
	cmd.Flags().Var(countFlag{&limit}, "limit", "show at most this `number` of messages")
	return cmd
}

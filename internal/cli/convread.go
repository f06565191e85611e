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
	cmd := a.onConv("read CONVERSATION", "Show what was said last",
		"  parley conv read project-x\n  parley conv read project-x --limit 100 -o jsonl",
		func(ctx context.Context, c *client.Client, args []string) error {
			messages, err := c.History(ctx, args[0], client.Span{Limit: limit})
			if err != nil {
				return err
			}
			if a.output != formatTable || len(messages) == 0 {
				return list(a, messages)
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
	cmd.Long = `Show what was said last, and leave it unread. All of a conversation is written by
"parley conv export --format markdown".`
	cmd.Flags().Var(number{&limit}, "limit", "at most so many `messages`")
	return cmd
}

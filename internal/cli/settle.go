package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) ackCommand() *cobra.Command {
	var lease string
	cmd := &cobra.Command{
		Use:   "ack [ID…]",
		Short: "Acknowledge messages, or all that a lease holds",
		Example: `  parley ack m1234
  parley ack --lease 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b`,
		ValidArgsFunction: nothing,
	}
	cmd.Flags().StringVar(&lease, "lease", "", "`lease` under which they were taken")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && lease == "" {
			return usagef(cmd, "ID is missing; give the message, or --lease")
		}
		return nil
	}
	cmd.RunE = a.ask(func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) == 0 {
			return a.settled(c.Settle(ctx, lease, parley.Outcome{}))
		}
		return a.settled(c.Ack(ctx, lease, args...))
	})
	return cmd
}

func (a *app) inboxNack() *cobra.Command {
	var why parley.Trouble
	var failure string
	cmd := &cobra.Command{
		Use:   "nack LEASE [ID…]",
		Short: "Give back what was taken, or some of it, and say why",
		Example: `  parley inbox nack 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b --failure busy --after 30s
  parley inbox nack 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b --failure final --reason "not for me"`,
		Args:              takes(1, -1),
		ValidArgsFunction: nothing,
		RunE: a.ask(func(ctx context.Context, c *client.Client, args []string) error {
			why.Failure = parley.Failure(failure)
			if len(args) == 1 {
				return a.settled(c.Settle(ctx, args[0], parley.Outcome{Trouble: &why}))
			}
			return a.settled(c.Nack(ctx, args[0], why, args[1:]...))
		}),
	}
	cmd.Flags().StringVar(&failure, "failure", string(parley.FailureBusy), "lost, busy, server, nostart or final")
	cmd.Flags().StringVar(&why.Reason, "reason", "", "what went wrong, in a `sentence`")
	cmd.Flags().Var(span{&why.After}, "after", "not to be tried again before, like 30s")
	complete(cmd, "failure", fixed("lost", "busy", "server", "nostart", "final"))
	return cmd
}

func (a *app) inboxExtend() *cobra.Command {
	length := time.Minute
	cmd := &cobra.Command{
		Use:               "extend LEASE",
		Short:             "Keep what was taken for longer",
		Example:           "  parley inbox extend 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b --for 5m",
		Args:              takes(1, 1),
		ValidArgsFunction: nothing,
		RunE: a.ask(func(ctx context.Context, c *client.Client, args []string) error {
			return a.settled(c.Extend(ctx, args[0], length))
		}),
	}
	cmd.Flags().Var(span{&length}, "for", "how long from now")
	return cmd
}

// settled prints what has become of deliveries.
func (a *app) settled(deliveries []parley.Delivery, err error) error {
	if err != nil {
		return err
	}
	if a.output != formatTable {
		return list(a, deliveries)
	}
	for _, d := range deliveries {
		a.words(string(d.State), d.Recipient, d.ShortName())
	}
	return nil
}

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
		Short: "Acknowledge messages, or all messages of a lease",
		Example: `  parley ack m1234
  parley ack --lease 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b`,
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().StringVar(&lease, "lease", "", "`id` of the lease of the messages")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && lease == "" {
			return usagef(cmd, "ID is missing; give the id of a message, or --lease")
		}
		return nil
	}
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) == 0 {
			return a.printSettled(c.Settle(ctx, lease, parley.Outcome{}))
		}
		return a.printSettled(c.Ack(ctx, lease, args...))
	})
	return cmd
}

func (a *app) inboxNack() *cobra.Command {
	var why parley.Trouble
	var failure string
	cmd := &cobra.Command{
		Use:   "nack LEASE [ID…]",
		Short: "Return leased messages, all or some, with a reason",
		Example: `  parley inbox nack 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b --failure busy --after 30s
  parley inbox nack 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b --failure final --reason "not for me"`,
		Args:              argCount(1, -1),
		ValidArgsFunction: completeNothing,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			why.Failure = parley.Failure(failure)
			if len(args) == 1 {
				return a.printSettled(c.Settle(ctx, args[0], parley.Outcome{Trouble: &why}))
			}
			return a.printSettled(c.Nack(ctx, args[0], why, args[1:]...))
		}),
	}
	cmd.Flags().StringVar(&failure, "failure", string(parley.FailureBusy), "`kind` of failure: lost (the session ended), busy, server or nostart (the hub retries these), final (no retry)")
	cmd.Flags().StringVar(&why.Reason, "reason", "", "`text` that says what went wrong")
	cmd.Flags().Var(durationFlag{&why.After}, "after", "how long to wait before the next attempt, such as 30s")
	completeFlag(cmd, "failure", completeWords("lost", "busy", "server", "nostart", "final"))
	return cmd
}

func (a *app) inboxExtend() *cobra.Command {
	length := time.Minute
	cmd := &cobra.Command{
		Use:               "extend LEASE",
		Short:             "Extend a lease",
		Example:           "  parley inbox extend 0195a1b2-aaaa-7e5f-8a9b-0c1d2e3f4a5b --for 5m",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return a.printSettled(c.Extend(ctx, args[0], length))
		}),
	}
	cmd.Flags().Var(durationFlag{&length}, "for", "how long the lease lasts, counted from now")
	return cmd
}

// printSettled prints the states of deliveries after a call that settled them.
func (a *app) printSettled(deliveries []parley.Delivery, err error) error {
	if err != nil {
		return err
	}
	if a.output != formatTable {
		return printList(a, deliveries)
	}
	for _, d := range deliveries {
		a.printWords(string(d.State), d.Recipient, d.ShortName())
	}
	return nil
}

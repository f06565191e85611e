package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) waitCommand() *cobra.Command {
	limit := defaultWait
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for a message's answer, an ask, a task or an approval",
		Long: `Wait for the outcome of a message, an ask, a task or an approval, and print it. If the outcome is
already known, the command prints it at once. The command keeps waiting through a restart of the hub.

The exit code is 0 for success, 5 if time ran out, 3 if an approval was denied, and 1 for a failure.`,
		Example: `  parley wait task-101
  parley wait m1234 --wait=10m
  parley wait approval-7 -o json`,
		Args:              afterWait(argCount(1, 1)),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
	}
	cmd.Flags().Var(durationFlag{&limit}, "wait", "how long to wait")
	cmd.Flags().Lookup("wait").NoOptDefVal = defaultWait.String()
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		now, err := a.awaitOutcome(ctx, c, args[0], limit)
		if err != nil {
			return err
		}
		return a.printOutcome(now, limit)
	})
	return cmd
}

// awaitOutcome waits with as many calls as it needs, and through a restart of the hub. If the first call cannot reach
// the hub, it returns at once.
func (a *app) awaitOutcome(ctx context.Context, c *client.Client, id string, limit time.Duration) (now parley.Awaited, err error) {
	defer a.showWaiting(ctx, "waiting for "+id)()
	p := a.newHubRetry(limit)
	if now, err = c.Wait(ctx, id, 0); err != nil || now.Done {
		return now, err
	}
	for !now.Done && time.Now().Before(p.deadline) {
		err = p.call(ctx, func() (err error) {
			now, err = c.Wait(ctx, id, max(time.Until(p.deadline), 0))
			return err
		})
		if isUnavailable(err) {
			return now, parley.Errorf(parley.TimedOut, "the connection to the hub was lost, and there is no outcome within %s", limit).
				Suggest("wait again once the hub is back: %s", a.commandLine("wait", id)).From(err)
		}
		if err != nil {
			return now, err
		}
	}
	return now, nil
}

// printOutcome prints the outcome, and returns a failure as an error.
func (a *app) printOutcome(now parley.Awaited, limit time.Duration) error {
	switch {
	case !now.Done:
		return parley.Errorf(parley.TimedOut, "there is no outcome within %s; the %s is %s", limit, now.Kind, now.State).
			Suggest("wait longer: %s", a.commandLine("wait", cmp.Or(now.Name, now.ID), "--wait=10m"))
	case now.Error != nil:
		return now.Error
	}
	return a.printValue(now, func() {
		if now.Kind == parley.AwaitedMessage {
			a.printAnswers(now.Answers)
			return
		}
		a.printText(now.Text)
	})
}

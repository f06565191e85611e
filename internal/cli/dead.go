package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) deadCommand() *cobra.Command {
	return a.parentCommand("dead", "List, retry and drop messages that could not be delivered",
		a.deadList(),
		a.deadLetterCommand("retry", "Retry a dead letter, with the full number of attempts", (*client.Client).RetryDead),
		a.deadLetterCommand("drop", "Drop a dead letter", (*client.Client).DropDead))
}

func (a *app) deadList() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List dead letters",
		Example: "  parley dead list\n  parley dead list -o json",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			dead, err := collectItems(client.All(ctx, c.DeadLetters), limit)
			if err != nil {
				return err
			}
			return printList(a, dead,
				column[parley.Delivery]{"message", parley.Delivery.ShortName},
				column[parley.Delivery]{"from", func(d parley.Delivery) string { return d.From }},
				column[parley.Delivery]{"recipient", func(d parley.Delivery) string { return d.Recipient }},
				column[parley.Delivery]{"attempts", func(d parley.Delivery) string { return strconv.Itoa(d.Attempt) }},
				column[parley.Delivery]{"sent", func(d parley.Delivery) string { return a.formatTime(d.AcceptedAt) }},
				column[parley.Delivery]{"failure", deliveryFailure},
			)
		}),
	}
	cmd.Flags().Var(countFlag{&limit}, "limit", "list at most this `number` of dead letters (default: all)")
	return cmd
}

func deliveryFailure(d parley.Delivery) string {
	if d.Failure == nil {
		return ""
	}
	return d.Failure.Message
}

// deadLetterCommand returns a command about one dead letter.
func (a *app) deadLetterCommand(
	verb, short string, do func(c *client.Client, ctx context.Context, message, recipient string) (parley.Delivery, error),
) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " MESSAGE [RECIPIENT]",
		Short: short,
		Example: "  parley dead " + verb + " m1234\n" +
			"  parley dead " + verb + " m1234 gendry",
		Args:              argCount(1, 2),
		ValidArgsFunction: completeArgs(completeNothing, a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			if len(args) == 1 {
				recipient, err := deadRecipient(ctx, c, args[0])
				if err != nil {
					return err
				}
				args = append(args, recipient)
			}
			changed, err := do(c, ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.printDone(changed, string(changed.State), changed.Recipient, changed.ShortName())
		}),
	}
}

// deadRecipient returns the only recipient for which a message is a dead letter. E003 if there is none, or more than
// one.
func deadRecipient(ctx context.Context, c *client.Client, message string) (string, error) {
	shown, err := c.Message(ctx, message)
	if err != nil {
		return "", err
	}
	var dead []string
	for _, d := range shown.Deliveries {
		if d.State == parley.DeliveryDead {
			dead = append(dead, d.Recipient)
		}
	}
	switch len(dead) {
	case 0:
		return "", parley.Errorf(parley.BadInput, "message %s is not a dead letter", message).Because(parley.Conflict).
			Suggest("list dead letters: parley dead list")
	case 1:
		return dead[0], nil
	default:
		return "", parley.Errorf(parley.BadInput, "message %s is dead for %d recipients", message, len(dead)).
			Suggest("name one of them: %s", dead[0])
	}
}

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) sendCommand() *cobra.Command {
	var l messageFlags
	var direct bool
	var conv string
	cmd := &cobra.Command{
		Use:   "send AGENT TEXT",
		Short: "Send a message, and print its delivery state",
		Long: `Send a message, and print its delivery state: accepted, delivered, seen or answered.

A message to an agent opens a new conversation, unless you use --dm or --conv. With - as TEXT, the command reads the
message from standard input.`,
		Example: `  parley send arya "quick question"
  parley send arya "Where is the report?" --wait=5m
  parley send --conv project-x "@gendry please review" --file report.pdf
  git diff | parley send arya - --dm --priority high`,
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error { return l.checkArgs(cmd, args, conv != "") }
	l.declare(cmd)
	cmd.Flags().BoolVar(&direct, "dm", false, "send in the direct conversation with the agent")
	cmd.Flags().StringVar(&conv, "conv", "", "send in this `conversation`; without AGENT, only mentioned participants get it")
	cmd.MarkFlagsMutuallyExclusive("dm", "conv")
	completeFlag(cmd, "conv", a.completeConvs)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		switch l.draft.Conversation = conv; {
		case conv == "":
			l.draft.Direct, l.draft.Ephemeral = args[:1], !direct
			return a.suggestConversation(a.sendMessage(ctx, cmd, c, &l, args[1:]), args[0])
		case len(args) == 2:
			l.draft.To, args = args[0], args[1:]
		}
		return a.suggestNewConv(ctx, c, a.sendMessage(ctx, cmd, c, &l, args), conv)
	})
	return cmd
}

// suggestConversation adds to the error about an unknown agent what the name may mean instead.
func (a *app) suggestConversation(err error, name string) error {
	switch {
	case strings.HasPrefix(name, "#"):
		return suggestIfUnknown(err, "to send to a conversation: %s", a.commandLine("send", "--conv", shellWord(name[1:]), `"…"`))
	case strings.Contains(name, ","):
		return suggestIfUnknown(err, "to send to several agents: %s", a.commandLine("chat", strings.Join(splitNames(name), " "), `"…"`))
	default:
		return err
	}
}

func (a *app) replyCommand() *cobra.Command {
	var l messageFlags
	cmd := &cobra.Command{
		Use:   "reply MESSAGE TEXT",
		Short: "Reply to a message",
		Example: `  parley reply m1234 "It is on the shelf."
  echo "Done." | parley reply m1234 -`,
		ValidArgsFunction: completeNothing,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error { return l.checkArgs(cmd, args, false) }
	l.declare(cmd)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		l.draft.InReplyTo = args[0]
		return a.sendMessage(ctx, cmd, c, &l, args[1:])
	})
	return cmd
}

// sendMessage posts a message, prints its delivery states, and waits for the answer if the flags ask for it.
func (a *app) sendMessage(ctx context.Context, cmd *cobra.Command, c *client.Client, l *messageFlags, text []string) error {
	if err := l.buildDraft(ctx, a, cmd, c, text); err != nil {
		return err
	}
	receipt, err := a.postDraft(ctx, c, l.draft)
	if err != nil {
		return err
	}
	if l.wait > 0 {
		return a.awaitAnswer(ctx, c, receipt, l.wait)
	}
	return a.printAccepted(ctx, c, receipt)
}

// postDraft posts a draft, and prints the notices for the sender.
func (a *app) postDraft(ctx context.Context, c *client.Client, d parley.Draft) (parley.Receipt, error) {
	receipt, err := c.Post(ctx, d)
	a.printNotices(receipt.Notices)
	return receipt, err
}

// printAccepted prints the delivery states of a message that was just posted.
func (a *app) printAccepted(ctx context.Context, c *client.Client, receipt parley.Receipt) error {
	if len(receipt.Deliveries) == 0 {
		return a.printNoRecipients(ctx, c, receipt)
	}
	a.noteUnavailable(ctx, c, receipt, false)
	err := a.printValue(receipt, func() {
		for _, line := range deliveryLines(receipt) {
			a.printWords(line...)
		}
	})
	if err == nil {
		if err = a.printRefusals(receipt); err != nil {
			a.markShown(ctx, c, receipt.Message)
		}
	}
	return err
}

// printRefusals prints why the message did not reach recipients. It returns an error if there are such recipients.
func (a *app) printRefusals(r parley.Receipt) (err error) {
	for _, d := range r.Deliveries {
		if d.State != parley.DeliveryFailed {
			continue
		}
		var why error = d.Failure
		if d.Failure == nil {
			why = parley.Errorf(parley.Unavailable, "no reason is known").Suggest("see what happened: %s", a.commandLine("trace", d.Message))
		}
		_, _ = fmt.Fprintf(a.err, "%s: the message did not reach %s: %s\n", a.program, d.Recipient, oneLine(why.Error()))
		err = silentError{exitError}
	}
	return err
}

// printNoRecipients prints where a message is that has no recipients.
func (a *app) printNoRecipients(ctx context.Context, c *client.Client, r parley.Receipt) error {
	switch {
	case r.Asker != "": // the ask tells the asker; a notice says so
	case len(r.UnknownMentions) > 0: // the notices name them
		a.printStderr("note: the message woke nobody")
	default:
		a.printStderr("note: the message woke nobody; mention an agent with @")
	}
	return a.printValue(r, func() {
		title := r.Message.Conversation
		if view, err := c.Conversation(ctx, title); err == nil {
			title = view.Title()
		}
		a.printWords(string(parley.DeliveryAccepted), title, r.Message.ShortName())
	})
}

// deliveryLines returns the state of each delivery of a message, one line for each recipient.
func deliveryLines(r parley.Receipt) (lines [][]string) {
	for _, d := range r.Deliveries {
		lines = append(lines, []string{string(reachedState(d)), d.Recipient, r.Message.ShortName()})
	}
	return lines
}

// reachedState returns the state of a delivery. An answer may follow an acknowledgement, and is more than that.
func reachedState(d parley.Delivery) parley.DeliveryState {
	if d.AnsweredAt != nil {
		return parley.DeliveryAnswered
	}
	return d.State
}

const defaultWait = 2 * time.Minute

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) convRename() *cobra.Command {
	var display string
	cmd := &cobra.Command{
		Use:               "rename CONVERSATION NAME",
		Short:             "Rename a conversation",
		Example:           "  parley conv rename project-x project-y\n  parley conv rename project-x \"Project Y\"",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeConvs, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			change := parley.ConversationChange{Name: &args[1]}
			if display != "" {
				change.DisplayName = &display
			}
			renamed, err := c.ChangeConversation(ctx, args[0], change)
			if err != nil {
				return err
			}
			return a.printDone(renamed, append([]string{"renamed"}, titleWords(renamed)...)...)
		}),
	}
	cmd.Flags().StringVar(&display, "display-name", "", "display `name` (default: NAME)")
	return cmd
}

func (a *app) convTopic() *cobra.Command {
	return &cobra.Command{
		Use:               "topic CONVERSATION [TEXT]",
		Short:             "Show or set the topic of a conversation",
		Example:           "  parley conv topic project-x\n  parley conv topic project-x \"The report\"\n  parley conv topic project-x \"\"",
		Args:              argCount(1, 2),
		ValidArgsFunction: completeArgs(a.completeConvs, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			if len(args) == 1 {
				v, err := c.Conversation(ctx, args[0])
				if err != nil {
					return err
				}
				return a.printValue(v, func() { a.printWords(v.Topic) })
			}
			changed, err := c.ChangeConversation(ctx, args[0], parley.ConversationChange{Topic: &args[1]})
			if err != nil {
				return err
			}
			return a.printDone(changed, "changed", changed.Title(), changed.ID)
		}),
	}
}

var answerOrders = []string{string(parley.AnswersParallel), string(parley.AnswersRoundRobin), string(parley.AnswersFirst)}

func (a *app) convAnswers() *cobra.Command {
	return &cobra.Command{
		Use:   "answers CONVERSATION parallel|round-robin|first",
		Short: "Set the order of the answers when a message wakes several agents",
		Long: `Set the order of the answers when a message wakes several agents: all at once (parallel), one after the other in the
order of mention (round-robin), or only the first answer (first).`,
		Example:           "  parley conv answers standup round-robin",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeConvs, completeWords(answerOrders...), completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			answers := parley.Answers(args[1])
			changed, err := c.ChangeConversation(ctx, args[0], parley.ConversationChange{Answers: &answers})
			if err != nil {
				return err
			}
			return a.printDone(changed, "changed", changed.Title(), args[1])
		}),
	}
}

func (a *app) convArchive(verb string, archived bool) *cobra.Command {
	short := "Hide a conversation until its next message"
	if !archived {
		short = "Show an archived conversation again"
	}
	return a.convArgCommand(verb+" CONVERSATION", short, "  parley conv "+verb+" project-x",
		func(ctx context.Context, c *client.Client, args []string) error {
			changed, err := c.ChangeConversation(ctx, args[0], parley.ConversationChange{Archived: &archived})
			if err != nil {
				return err
			}
			return a.printDone(changed, verb+"d", changed.Title(), changed.ID)
		})
}

func (a *app) convDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "delete CONVERSATION",
		Short:             "Delete a conversation with all its messages",
		Example:           "  parley conv delete project-x\n  parley conv delete project-x --yes",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeConvs, completeNothing),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		v, err := c.Conversation(ctx, args[0])
		if err != nil {
			return err
		}
		if err := a.confirm(cmd, yes, fmt.Sprintf("Delete %s with %s for good?", v.Title(), formatQuantity(v.Messages, "message", "messages"))); err != nil {
			return err
		}
		if err := c.DeleteConversation(ctx, v.ID); err != nil {
			return err
		}
		return a.printAction("deleted", v.Title())
	})
	return cmd
}

func (a *app) convExport() *cobra.Command {
	var form string
	var force bool
	cmd := &cobra.Command{
		Use:               "export CONVERSATION [FILE]",
		Short:             "Export a conversation as JSON lines or Markdown",
		Example:           "  parley conv export project-x > project-x.jsonl\n  parley conv export project-x notes.md --format markdown",
		Args:              argCount(1, 2),
		ValidArgsFunction: completeArgs(a.completeConvs, completeFiles),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			var lines exportWriter
			err := a.writeTo(ctx, args[1:], force, "exporting", func(w io.Writer) error {
				lines.w = w
				return c.Export(ctx, args[0], form, &lines)
			})
			if err != nil {
				return err
			}
			return lines.damageError()
		}),
	}
	cmd.Flags().StringVar(&form, "format", "jsonl", "`format`: jsonl or markdown")
	declareForce(cmd, &force)
	completeFlag(cmd, "format", completeWords("jsonl", "markdown"))
	return cmd
}

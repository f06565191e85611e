package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// note is what send-message is to post.
type note struct{ agent, channel, to, text string }

func (a *app) sendMessageCommand() *cobra.Command {
	var n note
	cmd := &cobra.Command{
		Use:   "send-message",
		Short: "Post a message into a channel as an agent, as the script of that name does",
		Long: `Post a message into a channel as an agent, as the script of that name does. A channel that does not exist is made.
With "all" the message is for everybody in the channel, and wakes those whom its text mentions. Only an owner may post
as another agent.

Linked under the name send-message, or send-message.py, the program is this command.`,
		Example: `  parley send-message --agent supervisor --channel agent-os-paper --to codex --text "Please review this"
  parley send-message --agent supervisor --channel agent-os-paper --to all --text "Team announcement"`,
		Args:              noArgs,
		ValidArgsFunction: nothing,
	}
	flags := cmd.Flags()
	flags.StringVar(&n.agent, "agent", "", "the `agent` that posts it")
	flags.StringVar(&n.channel, "channel", "", "the `channel` it is posted in")
	flags.StringVar(&n.to, "to", "", "the `agent` it is for, or all")
	flags.StringVar(&n.text, "text", "", "the `text`, or - for what standard input holds")
	complete(cmd, "agent", a.agentNames)
	complete(cmd, "to", a.agentNames)
	complete(cmd, "channel", a.convNames)
	complete(cmd, "text", nothing)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := allGiven(cmd, "agent", "channel", "to", "text"); err != nil {
			return err
		}
		return a.sendNote(cmd.Context(), n)
	}
	return cmd
}

// allGiven wants all of these flags.
func allGiven(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Lookup(name).Value.String() == "" {
			return usagef(cmd, "--%s is missing", name)
		}
	}
	return nil
}

func (a *app) sendNote(ctx context.Context, n note) error {
	text, err := a.input(ctx, n.text)
	if err != nil {
		return err
	}
	c, err := a.actingAs(ctx, a.usualName(n.agent))
	if err != nil {
		return err
	}
	defer c.Close()
	receipt, err := a.post(ctx, c, parley.Draft{
		Conversation: channelNamed(n.channel), Make: true, To: a.usualName(n.to), Content: parley.Content{Text: text},
	})
	if err != nil {
		return err
	}
	return a.accepted(ctx, c, receipt)
}

// usualName is an agent by the name it has now, where scripts may know an earlier one.
func (a *app) usualName(name string) string {
	id, warning := dialect.AgentID(dialect.AgentOS, name)
	if warning != "" {
		a.say("note: %s", warning)
	}
	return id
}

// channelNamed is a channel by its name, which no id is.
func channelNamed(name string) string { return "#" + strings.TrimPrefix(name, "#") }

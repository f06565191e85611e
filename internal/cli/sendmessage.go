package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// channelPost is a message that send-message posts.
type channelPost struct{ agent, channel, to, text string }

func (a *app) sendMessageCommand() *cobra.Command {
	var p channelPost
	cmd := &cobra.Command{
		Use:   "send-message",
		Short: "Post a message in a channel as an agent, like the script send-message",
		Long: `Post a message in a channel as an agent, like the script send-message. The command creates a channel that does not exist.
With "--to all", the message is for everybody in the channel, and wakes the agents that its text mentions. Only an owner
may post as another agent.

If you run the program through a link named send-message or send-message.py, it acts as this command.`,
		Example: `  parley send-message --agent supervisor --channel agent-os-paper --to codex --text "Please review this"
  parley send-message --agent supervisor --channel agent-os-paper --to all --text "Team announcement"`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	flags := cmd.Flags()
	flags.StringVar(&p.agent, "agent", "", "`agent` that posts the message")
	flags.StringVar(&p.channel, "channel", "", "`channel` in which to post it")
	flags.StringVar(&p.to, "to", "", "recipient: an `agent`, or all")
	flags.StringVar(&p.text, "text", "", "`text` of the message, or - for standard input")
	completeFlag(cmd, "agent", a.completeAgents)
	completeFlag(cmd, "to", a.completeAgents)
	completeFlag(cmd, "channel", a.completeConvs)
	completeFlag(cmd, "text", completeNothing)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := requireFlags(cmd, "agent", "channel", "to", "text"); err != nil {
			return err
		}
		return a.postToChannel(cmd.Context(), p)
	}
	return cmd
}

// requireFlags requires that all of these flags are given.
func requireFlags(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Lookup(name).Value.String() == "" {
			return usagef(cmd, "--%s is missing", name)
		}
	}
	return nil
}

func (a *app) postToChannel(ctx context.Context, p channelPost) error {
	text, err := a.readTextArg(ctx, p.text)
	if err != nil {
		return err
	}
	c, err := a.newClientAs(ctx, a.canonicalAgent(p.agent))
	if err != nil {
		return err
	}
	defer c.Close()
	receipt, err := a.postDraft(ctx, c, parley.Draft{
		Conversation: channelRef(p.channel), Make: true, To: a.canonicalAgent(p.to), Content: parley.Content{Text: text},
	})
	if err != nil {
		return err
	}
	return a.printAccepted(ctx, c, receipt)
}

// canonicalAgent returns the present name of an agent that scripts may know by an earlier one.
func (a *app) canonicalAgent(name string) string {
	id, warning := dialect.AgentID(dialect.AgentOS, name)
	if warning != "" {
		a.printStderr("note: %s", warning)
	}
	return id
}

// channelRef returns a reference to a channel by its name, which cannot be an id.
func channelRef(name string) string { return "#" + strings.TrimPrefix(name, "#") }

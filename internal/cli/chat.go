package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/chat"
)

func (a *app) chatCommand() *cobra.Command {
	var conv string
	cmd := &cobra.Command{
		Use:   "chat AGENT… [TEXT]",
		Short: "Talk with agents and people, live",
		Long: `Talk with agents and people, live. With one name, you chat in your direct conversation. With several names, you chat in
the group of all of you. With --conv, you chat in a conversation that has a name. With TEXT, the command sends the text
and returns. TEXT must contain a space, or follow --.

On a terminal, the chat shows earlier and new messages; /help lists its commands. Elsewhere, the chat sends each line of
standard input and prints each message as a line, until the input ends.`,
		Example: `  parley chat arya
  parley chat arya gendry
  parley chat --conv project-x
  parley chat --conv project-x "hey @arya @gendry thoughts on streaming?"
  parley chat arya -- hello
  tail -f build.log | parley chat --conv builds -o jsonl`,
		ValidArgsFunction: a.completeAgents,
	}
	cmd.Flags().StringVar(&conv, "conv", "", "chat in this `conversation`")
	completeFlag(cmd, "conv", a.completeConvs)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		names, text := splitChatArgs(args, cmd.ArgsLenAtDash(), conv != "")
		switch {
		case conv == "" && len(names) == 0:
			return usagef(cmd, "AGENT is missing")
		case len(text) > 1 || conv != "" && len(names) > 0:
			return argCount(0, 1)(cmd, args)
		default:
			return nil
		}
	}
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		names, text := splitChatArgs(args, cmd.ArgsLenAtDash(), conv != "")
		if len(text) == 0 {
			return a.runChat(ctx, c, conv, names)
		}
		var l messageFlags
		l.draft.Conversation, l.draft.Direct = conv, names
		return a.suggestNewConv(ctx, c, a.sendMessage(ctx, cmd, c, &l, text), conv)
	})
	return cmd
}

// suggestNewConv adds to the error of a call that named a missing conversation how to create that conversation.
func (a *app) suggestNewConv(ctx context.Context, c *client.Client, err error, conv string) error {
	if err == nil || conv == "" || parley.AsError(err).Reason != parley.NotFound {
		return err
	}
	ref := parley.ParseConversationRef(conv)
	if ref.Members != nil || parley.IsUUID(ref.Name) {
		return err
	}
	if _, missing := c.Conversation(ctx, conv); missing == nil || parley.AsError(missing).Reason != parley.NotFound {
		return err
	}
	return suggestIfUnknown(err, "create it: %s", a.commandLine("conv", "new", shellWord(ref.Name)))
}

// splitChatArgs splits the arguments of chat into names and a text. A name has no space in it. Everything after -- is
// text (dash is the number of arguments before it, or -1), and so is everything that follows --conv.
func splitChatArgs(args []string, dash int, toConversation bool) (names, text []string) {
	last := len(args) - 1
	switch {
	case toConversation:
		return nil, args
	case dash >= 0:
		return args[:dash], args[dash:]
	case last > 0 && (args[last] == "-" || strings.ContainsAny(args[last], " \t\n")):
		return args[:last], args[last:]
	default:
		return args, nil
	}
}

// runChat runs a live chat: on a screen, or line by line.
func (a *app) runChat(ctx context.Context, c *client.Client, conv string, names []string) error {
	conversation, err := openChatConversation(ctx, c, conv, names)
	if err != nil {
		return a.suggestNewConv(ctx, c, err, conv)
	}
	defer a.openSession(ctx, c, parley.SessionChat)()
	screen := a.output == formatTable && isTerminal(a.out) && isTerminal(a.in) && os.Getenv("TERM") != "dumb"
	if screen {
		return chat.Run(ctx, conversation, a.in, a.out, os.Environ())
	}
	conversation.printNotices = a.printNotices
	print := chat.PrintLine("15:04", time.Local)
	switch {
	case a.output != formatTable:
		print = chat.PrintJSON
	case !isTerminal(a.out):
		print = chat.PrintLine(time.RFC3339, time.UTC)
	}
	return chat.Lines(ctx, conversation, a.in, a.out, print)
}

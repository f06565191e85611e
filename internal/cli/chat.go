package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/chat"
)

func (a *app) chatCommand() *cobra.Command {
	var conv string
	cmd := &cobra.Command{
		Use:   "chat AGENT… [TEXT]",
		Short: "Talk with agents and people, live",
		Long: `Talk with agents and people, live: with one in your direct conversation, with several in the group of
all of you, or with --conv in a conversation that has a name. With a text, it is sent and that is all; a text
has a space in it, or stands behind --.

On a terminal this shows what was said and what comes; /help lists what can be done. Elsewhere each line of
standard input is sent, and each message printed as a line, until the input ends.`,
		Example: `  parley chat arya
  parley chat arya gendry
  parley chat --conv project-x
  parley chat --conv project-x "hey @arya @gendry thoughts on streaming?"
  parley chat arya -- hello
  tail -f build.log | parley chat --conv builds -o jsonl`,
		ValidArgsFunction: a.agentNames,
	}
	cmd.Flags().StringVar(&conv, "conv", "", "in this `conversation`")
	complete(cmd, "conv", a.convNames)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		names, text := chatArgs(args, cmd.ArgsLenAtDash(), conv != "")
		switch {
		case conv == "" && len(names) == 0:
			return usagef(cmd, "AGENT is missing")
		case len(text) > 1 || conv != "" && len(names) > 0:
			return takes(0, 1)(cmd, args)
		default:
			return nil
		}
	}
	cmd.RunE = a.ask(func(ctx context.Context, c *client.Client, args []string) error {
		names, text := chatArgs(args, cmd.ArgsLenAtDash(), conv != "")
		if len(text) == 0 {
			return a.chat(ctx, c, conv, names)
		}
		var l letter
		l.draft.Conversation, l.draft.Direct = conv, names
		return a.deliver(ctx, cmd, c, &l, text)
	})
	return cmd
}

// chatArgs tells names from a text. No name has a space in it; what comes after -- (dash is how much comes
// before it, or -1), and whatever is given with a conversation, is text.
func chatArgs(args []string, dash int, toConversation bool) (names, text []string) {
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

// chat talks live: on a screen, or in lines.
func (a *app) chat(ctx context.Context, c *client.Client, conv string, names []string) error {
	room, err := openRoom(ctx, c, conv, names)
	if err != nil {
		return err
	}
	switch {
	case a.output != formatTable:
		return chat.Lines(ctx, room, a.in, a.out, chat.PrintJSON)
	case !isTerminal(a.out):
		return chat.Lines(ctx, room, a.in, a.out, chat.PrintLine(time.RFC3339, time.UTC))
	case !isTerminal(a.in) || os.Getenv("TERM") == "dumb":
		return chat.Lines(ctx, room, a.in, a.out, chat.PrintLine("15:04", time.Local))
	default:
		return chat.Run(ctx, room, a.in, a.out, os.Environ())
	}
}

package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) convCommand() *cobra.Command {
	conv := a.parentCommand("conv", "Create, join and manage conversations",
		a.convNew(), a.convList(), a.convShow(), a.convRead(), a.convJoin(), a.convLeave(), a.convAdd(), a.convRemove(), a.convRename(),
		a.convTopic(), a.convAnswers(), a.convArchive("archive", true), a.convArchive("unarchive", false), a.convDelete(), a.convExport())
	conv.Long = `Create, join and manage conversations. Name a conversation by its id, its name, #name or its display name. If it has no
name, name its members: @arya is your direct conversation with arya, "arya ↔ gendry" the one between arya and gendry.`
	return conv
}

func (a *app) convNew() *cobra.Command {
	var n parley.NewConversation
	var with []string
	var answers string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a channel or a group",
		Long: `Create a channel or a group. The hub makes the name of the conversation from NAME, and keeps NAME as the display name:
"Project X" becomes #project-x (Project X). If the hub cannot make a name from NAME, give a NAME of a-z, 0-9, _ and -, and use --display-name.`,
		Example: `  parley conv new "project-x" --with arya,gendry
  parley conv new "Project X" --with arya,gendry
  parley conv new projekt --display-name "Проект"
  parley conv new secrets --with arya --private --topic "Not for everybody"
  parley conv new standup --with arya,gendry --answers round-robin`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			n.Name, n.With, n.Answers = args[0], splitNames(with...), parley.Answers(answers)
			made, err := c.CreateConversation(ctx, n)
			if err != nil {
				return err
			}
			return a.printDone(made, append([]string{"created"}, titleWords(made)...)...)
		}),
	}
	cmd.Flags().StringArrayVar(&with, "with", nil, "members: `names` of agents separated by commas")
	cmd.Flags().BoolVar(&n.Private, "private", false, "allow only members to read the channel")
	cmd.Flags().BoolVar(&n.Group, "group", false, "create a private group instead of a channel")
	cmd.Flags().StringVar(&n.DisplayName, "display-name", "", "display `name` (default: NAME)")
	cmd.Flags().StringVar(&n.Topic, "topic", "", "`text` that says what the conversation is about")
	cmd.Flags().StringVar(&answers, "answers", "", "`order` of the answers when a message wakes several agents: parallel, round-robin or first")
	completeFlag(cmd, "with", a.completeAgentList)
	completeFlag(cmd, "answers", completeWords(answerOrders...))
	return cmd
}

func (a *app) convList() *cobra.Command {
	var options client.ConversationsOptions
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List conversations, newest message first",
		Example: "  parley conv list\n  parley conv list --all --archived -o json",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			views, err := collectItems(client.All(ctx,
				func(ctx context.Context, from client.PageRequest) (client.Page[parley.ConversationView], error) {
					return c.Conversations(ctx, options, from)
				}), 0)
			if err != nil {
				return err
			}
			me, err := c.Whoami(ctx)
			if err != nil {
				return err
			}
			return printList(a, views, a.convColumns(me.Agent.ID)...)
		}),
	}
	cmd.Flags().BoolVar(&options.All, "all", false, "also list conversations that you may read but have not joined")
	cmd.Flags().BoolVar(&options.Archived, "archived", false, "list archived conversations instead of the others")
	cmd.Flags().BoolVar(&options.Ephemeral, "ephemeral", false, "also list conversations that parley send opened")
	return cmd
}

func (a *app) convColumns(me string) []column[parley.ConversationView] {
	return []column[parley.ConversationView]{
		{"name", func(v parley.ConversationView) string { return convName(v, me) }},
		{"kind", convKind},
		{"members", func(v parley.ConversationView) string { return strings.Join(v.Members, ",") }},
		{"messages", func(v parley.ConversationView) string { return strconv.FormatInt(v.Messages, 10) }},
		{"unread", func(v parley.ConversationView) string { return strconv.Itoa(v.Unread) }},
		{"updated", func(v parley.ConversationView) string { return a.formatTime(v.UpdatedAt) }},
		{"display name", func(v parley.ConversationView) string { return v.DisplayName }},
		{"topic", func(v parley.ConversationView) string { return v.Topic }},
		{"id", func(v parley.ConversationView) string { return v.ID }},
	}
}

// convName returns the name under which a list shows a conversation, and which every command accepts: its name, or @
// and its other members, or all its members if the caller is not one of them.
func convName(v parley.ConversationView, me string) string {
	if v.Name != "" {
		return v.Name
	}
	if v.Kind == parley.Ephemeral || !slices.Contains(v.Members, me) {
		return conversationTitle(v)
	}
	others := slices.DeleteFunc(slices.Clone(v.Members), func(id string) bool { return id == me })
	return "@" + strings.Join(others, ",")
}

// titleWords returns the title of a conversation, its display name if it has one, and its id.
func titleWords(v parley.ConversationView) []string {
	if v.DisplayName == "" {
		return []string{v.Title(), v.ID}
	}
	return []string{v.Title(), "(" + v.DisplayName + ")", v.ID}
}

func convKind(v parley.ConversationView) string {
	if v.Kind == parley.Channel && v.Visibility == parley.Private {
		return "private channel"
	}
	return string(v.Kind)
}

func (a *app) convShow() *cobra.Command {
	return a.convArgCommand("show CONVERSATION", "Show the properties of a conversation; conv read shows its messages",
		"  parley conv show project-x\n  parley conv show '#project-x' -o json",
		func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.Conversation(ctx, args[0])
			if err != nil {
				return err
			}
			return a.printValue(v, func() { a.showConv(v) })
		})
}

func (a *app) showConv(v parley.ConversationView) {
	joined := "no"
	if v.Joined {
		joined = "yes"
	}
	a.printFields("id", v.ID, "name", v.Name, "display name", v.DisplayName, "kind", string(v.Kind), "visibility", string(v.Visibility), "topic", v.Topic,
		"answers", string(v.Answers), "members", strings.Join(v.Members, ", "), "joined", joined, "messages", strconv.FormatInt(v.Messages, 10),
		"unread", strconv.Itoa(v.Unread), "created by", v.CreatedBy, "created", a.formatTime(v.CreatedAt),
		"updated", a.formatTime(v.UpdatedAt), "archived", a.formatOptionalTime(v.ArchivedAt))
}

// convArgCommand returns a command whose only argument is a conversation.
func (a *app) convArgCommand(use, short, example string, do clientFunc) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: argCount(1, 1), ValidArgsFunction: completeArgs(a.completeConvs, completeNothing), RunE: a.withClient(do),
	}
}

func (a *app) convJoin() *cobra.Command {
	return a.convArgCommand("join CONVERSATION", "Join a conversation", "  parley conv join project-x",
		func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.Join(ctx, args[0]); err != nil {
				return err
			}
			return a.printAction("joined", args[0])
		})
}

func (a *app) convLeave() *cobra.Command {
	return a.convArgCommand("leave CONVERSATION", "Leave a conversation", "  parley conv leave project-x",
		func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.Leave(ctx, args[0]); err != nil {
				return err
			}
			return a.printAction("left", args[0])
		})
}

func (a *app) convAdd() *cobra.Command {
	return a.membersCommand("add CONVERSATION AGENT…", "Add agents to a conversation", "  parley conv add project-x arya gendry",
		"added", (*client.Client).AddMember)
}

func (a *app) convRemove() *cobra.Command {
	return a.membersCommand("remove CONVERSATION AGENT…", "Remove agents from a conversation", "  parley conv remove project-x gendry",
		"removed", (*client.Client).RemoveMember)
}

// membersCommand returns a command that calls do for each of several agents.
func (a *app) membersCommand(
	use, short, example, done string, do func(c *client.Client, ctx context.Context, ref, agent string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: argCount(2, -1), ValidArgsFunction: completeArgs(a.completeConvs, a.completeAgents),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			for _, agent := range args[1:] {
				if err := do(c, ctx, args[0], agent); err != nil {
					return err
				}
				if err := a.printDone(map[string]string{done: agent, "conversation": args[0]}, done, agent, args[0]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

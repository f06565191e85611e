package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) memoryCommand() *cobra.Command {
	return a.parentCommand("memory", "Write, find and forget notes", a.memoryAdd(), a.memoryList(), a.memoryForget())
}

func (a *app) memoryAdd() *cobra.Command {
	n := parley.NewNote{Scope: parley.PrivateNote}
	cmd := &cobra.Command{
		Use:   "add TEXT",
		Short: "Write a note to yourself, or for all who read a conversation",
		Long: `Write a note that outlives the conversation: to yourself, or with --conv for all who may read the conversation.
The runs of an agent get the notes that match. Without TEXT, or with -, the note comes from standard input.`,
		Example: `  parley memory add "The staging key is in the vault."
  parley memory add --conv project-x "Deploys are on Tuesdays."
  parley --as arya memory add - < notes.md`,
		Args:              argCount(0, 1),
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().StringVar(&n.Conversation, "conv", "", "write a note of this `conversation`")
	cmd.Flags().StringVar(&n.IdempotencyKey, "idempotency-key", "", "`key` that keeps a repeated call from writing the note twice")
	completeFlag(cmd, "conv", a.completeConvs)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) (err error) {
		if n.Conversation != "" {
			n.Scope = parley.ConversationNote
		}
		if n.Text, err = a.textOrStdin(ctx, cmd, args); err != nil {
			return err
		}
		note, err := c.Remember(ctx, n)
		if err != nil {
			return err
		}
		return a.printDone(note, "noted", note.ID)
	})
	return cmd
}

func (a *app) memoryList() *cobra.Command {
	f := parley.NoteFilter{Limit: parley.MaxNotes}
	cmd := &cobra.Command{
		Use:   "list [WORDS…]",
		Short: "List your notes, or those of a conversation or an agent, newest first",
		Long: `List your notes, newest first, or with --conv those of a conversation. Owners list the private notes of any agent
with --agent. With WORDS, list only notes that have one of them, best match first.`,
		Example: `  parley memory list
  parley memory list --conv project-x deploy
  parley memory list --agent arya -o json`,
		Args:              argCount(0, -1),
		ValidArgsFunction: completeNothing,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Conversation, "conv", "", "list the notes of this `conversation`")
	flags.StringVar(&f.Agent, "agent", "", "list the private notes of this `agent` (owners only)")
	flags.Var(countFlag{&f.Limit}, "limit", "list at most this `number` of notes")
	completeFlag(cmd, "conv", a.completeConvs)
	completeFlag(cmd, "agent", a.completeAgents)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		f.Query = strings.Join(args, " ")
		f.Limit = min(f.Limit, parley.MaxNotes)
		notes, err := c.Recall(ctx, f)
		if err != nil {
			return err
		}
		return printListWith(a, notes,
			column[parley.Note]{"text", noteText},
			column[parley.Note]{"note", func(n parley.Note) string { return n.ID }},
			column[parley.Note]{"author", func(n parley.Note) string { return n.Author }},
			column[parley.Note]{"written", func(n parley.Note) string { return a.formatPastTime(n.CreatedAt) }},
		)
	})
	return cmd
}

func noteText(n parley.Note) string {
	switch {
	case n.Damage != nil:
		return "(" + n.Damage.Message + ")"
	case n.RedactedAt != nil:
		return "(redacted)"
	default:
		return n.Text
	}
}

func (a *app) memoryForget() *cobra.Command {
	return &cobra.Command{
		Use:               "forget NOTE",
		Short:             "Erase a note",
		Long:              "Erase a note. The author of the note, the creator of its conversation and owners may erase it.",
		Example:           "  parley memory forget note-12",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeNotes, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.Forget(ctx, args[0]); err != nil {
				return err
			}
			return a.printAction("forgotten", args[0])
		}),
	}
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/anima"
)

func (a *app) importAnimaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "anima DB",
		Short: "Import the conversations of Anima as history, without waking anybody",
		Long: `Import the conversations.db of Anima as history, without waking anybody. The command does not change the file, and Anima
may be running. The hub skips messages that it already has, so you can repeat the import. The hub adds agents that it does
not know, without a runtime. If a text is too long for a message, the message has its beginning, and a file has the whole text.`,
		Example:           "  parley import anima ~/.anima/conversations.db",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(completeFiles, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			hub, err := animaHub(ctx, c)
			if err != nil {
				return err
			}
			report, skipped, err := a.importAnima(ctx, c, args[0], hub)
			if err != nil {
				return err
			}
			if err := a.showImported(report); err != nil || len(skipped) == 0 {
				return err
			}
			a.printNotices(skipped)
			return parley.Errorf(parley.BadInput, "could not import %s; the hub imported all others", formatQuantity(int64(len(skipped)), "message", "messages")).
				Suggest("raise limits.artifact of the hub, and repeat the import")
		}),
	}
}

// animaHub returns what the hub has, as the import needs it.
func animaHub(ctx context.Context, c *client.Client) (hub anima.Hub, err error) {
	hub.Store = c.PutArtifact
	if hub.Agents, err = c.Agents(ctx); err == nil {
		hub.Conversations, err = allConversations(ctx, c)
	}
	return hub, err
}

// allConversations returns all conversations of the hub.
func allConversations(ctx context.Context, c *client.Client) ([]parley.ConversationView, error) {
	var list []parley.ConversationView
	for _, archived := range []bool{false, true} {
		options := client.ConversationsOptions{All: true, Archived: archived, Ephemeral: true}
		pages := func(ctx context.Context, from client.PageRequest) (client.Page[parley.ConversationView], error) {
			return c.Conversations(ctx, options, from)
		}
		for view, err := range client.All(ctx, pages) {
			if err != nil {
				return nil, err
			}
			list = append(list, view)
		}
	}
	return list, nil
}

// importAnima reads the database and sends its content to the hub at the same time. skipped says why messages were not
// imported.
func (a *app) importAnima(ctx context.Context, c *client.Client, file string, hub anima.Hub) (report parley.ImportReport, skipped []string, err error) {
	type exported struct {
		anima.Exported
		err error
	}
	lines, out := io.Pipe()
	ended := make(chan exported, 1)
	go func() {
		done, err := anima.Export(ctx, file, hub, out)
		ended <- exported{done, err}
		_ = out.CloseWithError(err)
	}()
	counted := &counter{r: lines}
	stop := a.showProgress(ctx, "importing", counted)
	report, err = c.Import(ctx, counted)
	stop()
	_ = lines.CloseWithError(errHubAnswered)
	end := <-ended
	if errors.Is(end.err, errHubAnswered) {
		end.err = nil // the hub answered before the end: its error is the cause
	}
	report.Notices = slices.Concat(end.Notices, report.Notices)
	return report, end.Skipped, cmp.Or(end.err, err)
}

// errHubAnswered ends the export when the hub has answered.
var errHubAnswered = errors.New("the hub has answered")

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
		Short: "Read the conversations of anima, as history that wakes nobody",
		Long: `Read the conversations.db of anima, as history that wakes nobody. The file is not changed, and may be in use. What is
there already is skipped, so that it can be repeated when more was said there. Agents that this hub does not know are
added, without a runtime.`,
		Example:           "  parley import anima ~/.anima/conversations.db",
		Args:              takes(1, 1),
		ValidArgsFunction: inTurn(files, nothing),
		RunE: a.ask(func(ctx context.Context, c *client.Client, args []string) error {
			have, err := allConversations(ctx, c)
			if err != nil {
				return err
			}
			report, err := a.importAnima(ctx, c, args[0], have)
			if err != nil {
				return err
			}
			return a.showImported(report)
		}),
	}
}

// allConversations are those that the hub has.
func allConversations(ctx context.Context, c *client.Client) ([]parley.ConversationView, error) {
	var list []parley.ConversationView
	for _, archived := range []bool{false, true} {
		which := client.Conversations{All: true, Archived: archived, Ephemeral: true}
		pages := func(ctx context.Context, from client.From) (client.Page[parley.ConversationView], error) {
			return c.Conversations(ctx, which, from)
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

// importAnima reads the database and sends what is in it at the same time.
func (a *app) importAnima(ctx context.Context, c *client.Client, file string, have []parley.ConversationView) (parley.ImportReport, error) {
	type exported struct {
		notices []string
		err     error
	}
	lines, out := io.Pipe()
	ended := make(chan exported, 1)
	go func() {
		notices, err := anima.Export(ctx, file, have, out)
		ended <- exported{notices, err}
		_ = out.CloseWithError(err)
	}()
	counted := &counter{r: lines}
	stop := a.progress(ctx, "importing", counted)
	report, err := c.Import(ctx, counted)
	stop()
	_ = lines.CloseWithError(errSent)
	end := <-ended
	if errors.Is(end.err, errSent) {
		end.err = nil // nobody has listened any more: what the hub says is the reason
	}
	report.Notices = slices.Concat(end.notices, report.Notices)
	return report, cmp.Or(end.err, err)
}

// errSent says that the hub has answered.
var errSent = errors.New("the hub has answered")

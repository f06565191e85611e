package chat

import (
	"cmp"
	"context"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/live"
	"github.com/parley-hub/parley/internal/plain"
)

// Run shows a chat on a terminal until the user leaves or the hub refuses. If messages may not have been sent, it
// returns an error that quotes them.
func Run(ctx context.Context, conversation Conversation, in io.Reader, out io.Writer, environ []string) error {
	state, err := conversation.Describe(ctx)
	if err != nil {
		return err
	}
	var model *Model
	err = live.Run(ctx, live.Terminal{In: in, Out: out, Environ: environ, Alternative: "read and write lines instead: parley chat … | cat"},
		func(ctx context.Context) tea.Model { model = New(ctx, conversation, state); return model },
		func(ctx context.Context, tell func(tea.Msg)) error {
			return conversation.Follow(ctx, func(s Signal) { tell(s) })
		})
	return cmp.Or(model.failure, err, unsentError(model.outbox.unsent()))
}

func unsentError(messages []outgoing) error {
	if len(messages) == 0 {
		return nil
	}
	var texts []string
	for _, l := range messages {
		texts = append(texts, plain.Line(l.draft.Content.Text))
	}
	return parley.Errorf(parley.Unavailable, "the hub may not have received: %s", strings.Join(texts, " / ")).
		Suggest("check the conversation, and send missing messages again")
}

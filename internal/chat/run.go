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

// Run chats on a terminal until its user leaves or the hub refuses. What was typed and may not have been
// sent is an error that quotes it.
func Run(ctx context.Context, room Room, in io.Reader, out io.Writer, environ []string) error {
	scene, err := room.Describe(ctx)
	if err != nil {
		return err
	}
	var model *Model
	err = live.Run(ctx, live.Terminal{In: in, Out: out, Environ: environ, Alternative: "read and write lines instead: parley chat … | cat"},
		func(ctx context.Context) tea.Model { model = New(ctx, room, scene); return model },
		func(ctx context.Context, tell func(tea.Msg)) error {
			return room.Follow(ctx, func(s Signal) { tell(s) })
		})
	return cmp.Or(model.failure, err, unsentError(model.outbox.unsent()))
}

func unsentError(letters []outgoing) error {
	if len(letters) == 0 {
		return nil
	}
	var texts []string
	for _, l := range letters {
		texts = append(texts, plain.Line(l.draft.Content.Text))
	}
	return parley.Errorf(parley.Unavailable, "the hub may not have received: %s", strings.Join(texts, " / ")).
		Suggest("check the conversation, and send missing messages again")
}

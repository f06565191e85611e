package chat

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// Run chats on a terminal until its user leaves or the hub refuses. What was typed and may not have been
// sent is an error that quotes it.
func Run(ctx context.Context, room Room, in io.Reader, out io.Writer, environ []string) error {
	scene, err := room.Look(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	model := New(ctx, room, scene)
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(environ))
	var following sync.WaitGroup
	following.Go(func() {
		if err := room.Follow(ctx, func(s Signal) { program.Send(s) }); ctx.Err() == nil {
			program.Send(ended{err})
		}
	})
	_, err = program.Run()
	cancel()
	following.Wait()
	switch {
	case model.failure != nil:
		return model.failure
	case err != nil && !errors.Is(err, tea.ErrInterrupted) && !errors.Is(err, tea.ErrProgramKilled):
		return parley.Errorf(parley.Internal, "the terminal failed: %w", err).Suggest("read and write lines instead: parley chat … | cat")
	default:
		return unsent(model.outbox.unsent())
	}
}

func unsent(letters []letter) error {
	if len(letters) == 0 {
		return nil
	}
	var texts []string
	for _, l := range letters {
		texts = append(texts, plain.Line(l.draft.Content.Text))
	}
	return parley.Errorf(parley.Unavailable, "this may not have been sent: %s", strings.Join(texts, " / ")).
		Suggest("look into the conversation, and send it again if it is not there")
}

// Package live runs live views on a terminal.
package live

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// Terminal is where a view is shown.
type Terminal struct {
	In          io.Reader
	Out         io.Writer
	Environ     []string
	Alternative string // what to do if the terminal fails
}

// FollowEnded tells a model that following the hub has ended, and why.
type FollowEnded struct{ Err error }

// Run shows a model until it quits or the user leaves, and meanwhile runs follow, which sends messages to the model.
// Both end with their context.
func Run(ctx context.Context, t Terminal, model func(context.Context) tea.Model, follow func(ctx context.Context, tell func(tea.Msg)) error) error {
	ctx, cancel := context.WithCancel(ctx)
	program := tea.NewProgram(model(ctx), tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Environ))
	var following sync.WaitGroup
	following.Go(func() {
		if err := follow(ctx, program.Send); ctx.Err() == nil {
			program.Send(FollowEnded{err})
		}
	})
	_, err := program.Run()
	cancel()
	following.Wait()
	if err != nil && !errors.Is(err, tea.ErrInterrupted) && !errors.Is(err, tea.ErrProgramKilled) {
		return parley.Errorf(parley.Internal, "the terminal failed: %w", err).Suggest("%s", t.Alternative)
	}
	return nil
}

// Delayer returns a function that makes commands which send a message to a model after a delay. They send nothing after
// the context has ended.
func Delayer(ctx context.Context) func(time.Duration, tea.Msg) tea.Cmd {
	return func(d time.Duration, msg tea.Msg) tea.Cmd {
		return func() tea.Msg {
			select {
			case <-time.After(d):
				return msg
			case <-ctx.Done():
				return nil
			}
		}
	}
}

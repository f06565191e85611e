package tasktree

import (
	"context"
	"errors"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// Source is a hub whose tasks are looked at.
type Source interface {
	// Look returns how the tasks are.
	Look(ctx context.Context) (Picture, error)
	// Follow reports that something may have changed, until the context ends or the hub refuses. Lost connections
	// come back by themselves.
	Follow(ctx context.Context, report func()) error
}

// Watch shows trees on a terminal until they have ended or their user leaves, and returns how they were last.
func Watch(ctx context.Context, source Source, how How, in io.Reader, out io.Writer, environ []string) (Picture, error) {
	first, err := source.Look(ctx)
	if err != nil || first.Ended() {
		return first, err
	}
	ctx, cancel := context.WithCancel(ctx)
	model := newModel(ctx, source, how, first)
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(environ))
	var following sync.WaitGroup
	following.Go(func() {
		if err := source.Follow(ctx, func() { program.Send(changedMsg{}) }); ctx.Err() == nil {
			program.Send(endMsg{err})
		}
	})
	_, err = program.Run()
	cancel()
	following.Wait()
	switch {
	case model.failure != nil:
		return model.picture, model.failure
	case err != nil && !errors.Is(err, tea.ErrInterrupted) && !errors.Is(err, tea.ErrProgramKilled):
		return model.picture, parley.Errorf(parley.Internal, "the terminal failed: %w", err).Suggest("draw it once instead, without --watch")
	default:
		return model.picture, nil
	}
}

// Tell writes trees, and then each task that has changed, until they have ended.
func Tell(ctx context.Context, source Source, how How, write func([]Line) error) error {
	ctx, cancel := context.WithCancel(ctx)
	changed, refused := make(chan struct{}, 1), make(chan error, 1)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		refused <- source.Follow(ctx, func() {
			select {
			case changed <- struct{}{}:
			default: // a look is due anyway
			}
		})
	})
	told := map[string]string{}
	for {
		picture, err := source.Look(ctx)
		if err != nil && parley.CodeOf(err) != parley.Unavailable || err != nil && len(told) == 0 {
			return err
		}
		if err == nil {
			if err := write(news(Draw(picture, how), told)); err != nil || picture.Ended() {
				return err
			}
		}
		select {
		case <-changed:
		case err := <-refused:
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// news are the lines that were not told before as they are now.
func news(lines []Line, told map[string]string) (fresh []Line) {
	for _, line := range lines {
		if told[line.Task.ID] != line.Text {
			told[line.Task.ID] = line.Text
			fresh = append(fresh, line)
		}
	}
	return fresh
}

package tasktree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/live"
)

// Source is a hub whose tasks are drawn.
type Source interface {
	// Load returns a snapshot of the tasks.
	Load(ctx context.Context) (Snapshot, error)
	// Follow reports that something may have changed, until the context ends or the hub refuses. It reconnects by
	// itself.
	Follow(ctx context.Context, report func()) error
}

// Watch shows trees on a terminal until they have ended or the user leaves, and returns the last snapshot.
func Watch(ctx context.Context, source Source, options Options, in io.Reader, out io.Writer, environ []string) (Snapshot, error) {
	first, err := source.Load(ctx)
	if err != nil || first.Ended() {
		return first, err
	}
	var m *model
	err = live.Run(ctx, live.Terminal{In: in, Out: out, Environ: environ, Alternative: "draw it once instead, without --watch"},
		func(ctx context.Context) tea.Model { m = newModel(ctx, source, options, first); return m },
		func(ctx context.Context, tell func(tea.Msg)) error {
			return source.Follow(ctx, func() { tell(changedMsg{}) })
		})
	return m.snapshot, cmp.Or(m.failure, err)
}

// PrintChanges writes trees, and then each task that has changed, until the trees have ended.
func PrintChanges(ctx context.Context, source Source, options Options, write func([]Line) error) error {
	ctx, cancel := context.WithCancel(ctx)
	changed, refused := make(chan struct{}, 1), make(chan error, 1)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		refused <- source.Follow(ctx, func() {
			select {
			case changed <- struct{}{}:
			default: // a load is due anyway
			}
		})
	})
	printed := map[string]string{}
	for {
		snapshot, err := source.Load(ctx)
		if err != nil && parley.CodeOf(err) != parley.Unavailable || err != nil && len(printed) == 0 {
			return err
		}
		if err == nil {
			if err := write(changedLines(Draw(snapshot, options), printed)); err != nil || snapshot.Ended() {
				return err
			}
		}
		var again <-chan time.Time // nil: the next change is reported
		if err != nil {
			again = time.After(refreshInterval)
		}
		select {
		case <-changed:
		case <-again:
		case err := <-refused:
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// changedLines returns the lines that differ from those printed before.
func changedLines(lines []Line, printed map[string]string) (fresh []Line) {
	for _, line := range lines {
		if printed[line.Task.ID] != line.Text {
			printed[line.Task.ID] = line.Text
			fresh = append(fresh, line)
		}
	}
	return fresh
}

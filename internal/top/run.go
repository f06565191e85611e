package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// Run shows a hub on a terminal until its user leaves or the hub refuses.
func Run(ctx context.Context, source Source, in io.Reader, out io.Writer, environ []string) error {
	first, err := source.Look(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	model := New(ctx, source, first)
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(environ))
	var following sync.WaitGroup
	following.Go(func() {
		if err := source.Follow(ctx, func(e parley.Event) { program.Send(e) }); ctx.Err() == nil {
			program.Send(endMsg{err})
		}
	})
	_, err = program.Run()
	cancel()
	following.Wait()
	switch {
	case model.failure != nil:
		return model.failure
	case err != nil && !errors.Is(err, tea.ErrInterrupted) && !errors.Is(err, tea.ErrProgramKilled):
		return parley.Errorf(parley.Internal, "the terminal failed: %w", err).Suggest("print it once instead: parley top --once")
	default:
		return nil
	}
}

// Print writes a picture as plain text, as wide as it needs.
func Print(w io.Writer, p Picture) error {
	m := New(context.Background(), nil, p)
	var text strings.Builder
	s := p.Status
	fmt.Fprintf(&text, "%s  %d messages  %d open  %d dead  %d live\n", p.Hub, s.Messages, s.OpenDeliveries, s.DeadLetters, len(p.Runs))
	for _, alert := range s.Alerts {
		fmt.Fprintln(&text, plain.Line(alert.Message))
	}
	for _, one := range table(m.picture.Agents, p.At, 0) {
		fmt.Fprintln(&text, one)
	}
	for _, task := range p.Stuck {
		fmt.Fprintln(&text, stuck(task))
	}
	for _, r := range p.Runs {
		fmt.Fprintln(&text, plain.Line(fmt.Sprintf("%s  %s  %s  %s  %s", r.ID, r.Agent, r.State, lasting(p.At.Sub(r.CreatedAt)), p.Places[r.Conversation])))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

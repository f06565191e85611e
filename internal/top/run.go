package top

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/live"
	"github.com/parley-hub/parley/internal/plain"
)

// Run shows a hub on a terminal until the user leaves or the hub refuses.
func Run(ctx context.Context, source Source, in io.Reader, out io.Writer, environ []string) error {
	first, err := source.Load(ctx)
	if err != nil {
		return err
	}
	var model *Model
	err = live.Run(ctx, live.Terminal{In: in, Out: out, Environ: environ, Alternative: "print it once instead: parley top --once"},
		func(ctx context.Context) tea.Model { model = New(ctx, source, first); return model },
		func(ctx context.Context, tell func(tea.Msg)) error {
			return source.Follow(ctx, func(e parley.Event) { tell(e) })
		})
	return cmp.Or(model.failure, err)
}

// Print prints a snapshot as plain text, as wide as it needs.
func Print(w io.Writer, p Snapshot) error {
	m := New(context.Background(), nil, p)
	var text strings.Builder
	s := p.Status
	fmt.Fprintf(&text, "%s  %d messages  %d open  %d dead  %d live\n", p.Hub, s.Messages, s.OpenDeliveries, s.DeadLetters, len(p.Runs))
	for _, alert := range parley.GroupAlerts(s.Alerts) {
		fmt.Fprintln(&text, plain.Line(alert.Message))
	}
	for _, one := range table(m.snapshot.Agents, p.At, 0) {
		fmt.Fprintln(&text, one)
	}
	for _, task := range p.Stuck {
		fmt.Fprintln(&text, stuckText(task))
	}
	for _, r := range p.Runs {
		fmt.Fprintln(&text, plain.Line(fmt.Sprintf("%s  %s  %s  %s  %s", r.ShortName(), r.Agent, r.State, formatDuration(p.At.Sub(r.CreatedAt)), p.Titles[r.Conversation])))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Package observe writes the log of a hub.
package observe

import (
	"context"
	"io"
	"log/slog"
	"os"
)

// Formats of a log. FormatAuto is text on a terminal and JSON elsewhere.
const (
	FormatAuto = "auto"
	FormatText = "text"
	FormatJSON = "json"
)

// Options configure a log.
type Options struct {
	Level    slog.Level
	Format   string
	Terminal bool // the log goes to a terminal
}

// NewLogger makes a logger that writes one line per entry, as text or as JSON, and removes secrets.
func NewLogger(w io.Writer, o Options) *slog.Logger {
	var h slog.Handler
	if o.Format == FormatText || o.Format != FormatJSON && o.Terminal {
		h = &lines{out: &shared{w: w}, level: o.Level, colour: o.Terminal && os.Getenv("NO_COLOR") == ""}
	} else {
		h = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: o.Level})
	}
	return slog.New(redacting{h})
}

// redacting is a slog.Handler that removes secrets from entries before the next handler writes them.
type redacting struct{ next slog.Handler }

func (r redacting) Enabled(ctx context.Context, level slog.Level) bool {
	return r.next.Enabled(ctx, level)
}

func (r redacting) Handle(ctx context.Context, entry slog.Record) error {
	clean := slog.NewRecord(entry.Time, entry.Level, Redact(entry.Message), entry.PC)
	entry.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(redactAttr(a))
		return true
	})
	return r.next.Handle(ctx, clean)
}

func (r redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = redactAttr(a)
	}
	return redacting{r.next.WithAttrs(clean)}
}

func (r redacting) WithGroup(name string) slog.Handler { return redacting{r.next.WithGroup(name)} }

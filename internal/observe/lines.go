package observe

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// lines is a slog.Handler that writes each entry as a line for people: 15:04:05 WARN: message key=value.
type lines struct {
	out    *shared
	level  slog.Level
	colour bool
	attrs  string // formatted attributes that all entries have
	group  string // prefix of the names of further attributes
}

// shared is a writer to which several handlers write whole lines.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

func (l *lines) Handle(_ context.Context, entry slog.Record) error {
	var b strings.Builder
	if !entry.Time.IsZero() {
		b.WriteString(entry.Time.Local().Format("15:04:05 "))
	}
	b.WriteString(l.paint(entry.Level))
	b.WriteString(": ")
	b.WriteString(oneLine(entry.Message))
	b.WriteString(l.attrs)
	entry.Attrs(func(a slog.Attr) bool {
		appendAttr(&b, l.group, a)
		return true
	})
	b.WriteByte('\n')
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	_, err := io.WriteString(l.out.w, b.String())
	return err
}

func (l *lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range attrs {
		appendAttr(&b, l.group, a)
	}
	more := *l
	more.attrs += b.String()
	return &more
}

func (l *lines) WithGroup(name string) slog.Handler {
	more := *l
	if name != "" {
		more.group += name + "."
	}
	return &more
}

// paint returns the name of a level, coloured by its urgency if the output is a terminal.
func (l *lines) paint(level slog.Level) string {
	if !l.colour {
		return level.String()
	}
	colour := "2" // faint
	switch {
	case level >= slog.LevelError:
		colour = "31" // red
	case level >= slog.LevelWarn:
		colour = "33" // yellow
	case level >= slog.LevelInfo:
		colour = "32" // green
	}
	return "\x1b[" + colour + "m" + level.String() + "\x1b[0m"
}

func appendAttr(b *strings.Builder, group string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, inner := range value.Group() {
			appendAttr(b, group, inner)
		}
		return
	}
	if a.Equal(slog.Attr{}) {
		return
	}
	b.WriteString(" " + oneLine(group+a.Key) + "=" + quoted(value.String()))
}

// quoted returns a value in quotes if a reader could not see where it ends without them.
func quoted(text string) string {
	unclear := func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '=' || !unicode.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, unclear) {
		return strconv.Quote(text)
	}
	return text
}

// oneLine replaces control characters, which would begin another line or control the terminal, by spaces.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
}

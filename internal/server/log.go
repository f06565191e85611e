package server

import (
	"io"
	"log/slog"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/observe"
)

// NewLog makes a logger with the configured level and format. A level that it does not know becomes info.
func NewLog(c *config.Config, w io.Writer, terminal bool) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		level = slog.LevelInfo
	}
	return observe.NewLogger(w, observe.Options{Level: level, Format: c.Log.Format, Terminal: terminal})
}

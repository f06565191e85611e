package bridge

import (
	"log/slog"
	"testing"
)

func TestLinesOfATreeHaveTheirLevelInTheLogOfTheHub(t *testing.T) {
	for line, want := range map[string]slog.Level{
		"ERROR: rejected a.json: no": slog.LevelError, "WARN: Expired message: 2, failed": slog.LevelWarn, "imported 3": slog.LevelInfo,
	} {
		if level, said := levelOf(line); level != want || want != slog.LevelInfo && want.String()+": "+said != line {
			t.Errorf("%q is %s: %s", line, level, said)
		}
	}
}

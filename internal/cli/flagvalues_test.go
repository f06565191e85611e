package cli

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "2h30m": 150 * time.Minute, "30d": 30 * 24 * time.Hour, "1d12h": 36 * time.Hour,
		"0.5d": 12 * time.Hour, "0s": 0,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("parseSpan(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-5s", "1d-2h", "5", "1w", "NaNd", "Infd", "99999999d", "1dx", "1d2d"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("parseSpan(%q) = %s, want an error", text, got)
		}
	}
}

func TestTimes(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h":                   now.Add(2 * time.Hour),
		"2031-02-03T04:05:06Z": time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC),
		"2031-02-03 04:05":     time.Date(2031, 2, 3, 4, 5, 0, 0, time.Local),
		"2031-02-03":           time.Date(2031, 2, 3, 0, 0, 0, 0, time.Local),
	} {
		if got, err := parseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("parseWhen(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	if got, err := parseTime("tomorrow", now); err == nil {
		t.Errorf("tomorrow is %s", got)
	}
}

func TestPriorities(t *testing.T) {
	var p parley.Priority
	flag := priorityFlag{&p}
	for text, level := range map[string]int{"0": 0, "10": 10, "high": 8, "URGENT": 10} {
		if err := flag.Set(text); err != nil || p.Level() != level {
			t.Errorf("%q gives %d, %v; want %d", text, p.Level(), err, level)
		}
	}
	for _, text := range []string{"", "11", "-1", "very"} {
		if err := flag.Set(text); err == nil {
			t.Errorf("%q is a priority", text)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3072.0 GiB"} {
		if got := formatSize(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

var text = Options{Format: FormatText}

func logged(o Options, say func(*slog.Logger)) string {
	var b strings.Builder
	say(NewLogger(&b, o))
	return b.String()
}

func TestLinesForPeople(t *testing.T) {
	for _, test := range []struct {
		name string
		say  func(*slog.Logger)
		want string // after the time
	}{
		{"an overflow", func(l *slog.Logger) {
			l.Warn("Inbox overflow for arya (101 messages), evicted oldest: 0195")
		}, "WARN: Inbox overflow for arya (101 messages), evicted oldest: 0195\n"},
		{"attributes", func(l *slog.Logger) {
			l.Info("hello", "n", 1, "text", "two words", "empty", "", "error", errors.New("a=b"))
		}, "INFO: hello n=1 text=\"two words\" empty=\"\" error=\"a=b\"\n"},
		{"groups", func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Error("x", slog.Group("h", "c", 3))
		}, "ERROR: x a=1 g.b=2 g.h.c=3\n"},
		{"below the level", func(l *slog.Logger) { l.Debug("x") }, ""},
		{"a line and a command inside", func(l *slog.Logger) {
			l.Info("a\nERROR: b\x1b[2J", "k", "c\nd")
		}, "INFO: a ERROR: b [2J k=\"c\\nd\"\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := logged(text, test.say)
			if test.want != "" && !regexp.MustCompile(`^\d\d:\d\d:\d\d `).MatchString(got) {
				t.Errorf("%q begins without a time", got)
			}
			if _, got, _ = strings.Cut(got, " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	say := func(l *slog.Logger) { l.Warn("x") }
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Format: FormatAuto, Terminal: true}, "\x1b[33mWARN\x1b[0m: x"},
		{Options{Format: FormatAuto}, `"level":"WARN","msg":"x"`},
		{Options{Format: FormatText}, " WARN: x"},
		{Options{Format: FormatJSON, Terminal: true}, `"level":"WARN","msg":"x"`},
	} {
		if got := logged(test.o, say); !strings.Contains(got, test.want) {
			t.Errorf("%+v: got %q", test.o, got)
		}
	}
	t.Setenv("NO_COLOR", "1")
	if got := logged(Options{Terminal: true}, say); !strings.Contains(got, " WARN: x") {
		t.Errorf("without colour: %q", got)
	}
}

// TestDurationsCanBeRead in JSON too, which has nanoseconds otherwise.
func TestDurationsCanBeRead(t *testing.T) {
	for _, format := range []string{FormatText, FormatJSON} {
		got := logged(Options{Format: format}, func(l *slog.Logger) { l.Info("x", "again_in", 90*time.Second) })
		if !strings.Contains(got, "1m30s") {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// TestSecretsInLogs is the row of that name in docs/security.md.
func TestSecretsInLogs(t *testing.T) {
	secret := parley.NewSecret()
	canary := strings.TrimPrefix(secret, "parley_")
	header := http.Header{"Authorization": {"Bearer " + canary}, "X": {secret}}
	for name, say := range map[string]func(*slog.Logger){
		"message":     func(l *slog.Logger) { l.Info("token " + secret + " refused") },
		"attribute":   func(l *slog.Logger) { l.Info("x", "key", secret) },
		"inside":      func(l *slog.Logger) { l.Info("x", "url", "http://h/sign-in?code="+secret+"&x=1") },
		"error":       func(l *slog.Logger) { l.Info("x", "error", fmt.Errorf("bad %s", secret)) },
		"group":       func(l *slog.Logger) { l.Info("x", slog.Group("g", slog.Group("h", "key", secret))) },
		"with":        func(l *slog.Logger) { l.With("key", secret).WithGroup("g").Info("x") },
		"key":         func(l *slog.Logger) { l.Info("x", secret, 1) },
		"struct":      func(l *slog.Logger) { l.Info("x", "made", parley.MadeToken{Secret: secret}) },
		"header":      func(l *slog.Logger) { l.Info("x", "header", header) },
		"pointer":     func(l *slog.Logger) { l.Info("x", "request", &http.Request{Header: header}) },
		"valuer":      func(l *slog.Logger) { l.Info("x", "v", valuer(secret)) },
		"bytes":       func(l *slog.Logger) { l.Info("x", "body", []string{secret}) },
		"bearer":      func(l *slog.Logger) { l.Info("got Authorization: Bearer " + canary) },
		"basic":       func(l *slog.Logger) { l.Info("x", "header", "authorization=Basic "+canary) },
		"by its name": func(l *slog.Logger) { l.Info("x", "Authorization", canary, "cookie", canary) },
		"database":    func(l *slog.Logger) { l.Info("x", "store", "postgres://u:"+canary+"@h/db") },
		"password":    func(l *slog.Logger) { l.Info("x", "store", "postgres://h/db?password="+canary+"&x=1") },
	} {
		for _, format := range []string{FormatText, FormatJSON} {
			got := logged(Options{Format: format}, say)
			if strings.Contains(got, canary) || !strings.Contains(got, "hidden") {
				t.Errorf("%s as %s: %s", name, format, got)
			}
		}
	}
}

type valuer string

func (v valuer) LogValue() slog.Value { return slog.StringValue(string(v)) }

func TestOrdinaryTextStays(t *testing.T) {
	for _, s := range []string{
		"parley up", "parley_session", "the basic idea is this", "http://127.0.0.1:7717/docs", "0195-abc", "user@host:/path",
	} {
		if got := Redact(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestAnEntryIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message, key, value := rapid.String().Draw(t, "message"), rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")
		got := logged(text, func(l *slog.Logger) { l.Info(message, key, value) })
		if strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\r\x00") {
			t.Fatalf("got %q", got)
		}
	})
}

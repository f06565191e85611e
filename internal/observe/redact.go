package observe

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
)

const hidden = "[hidden]"

// secrets are the patterns that Redact replaces. A token has 43 characters after its prefix; a part of a token is hidden too.
var secrets = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`parley_[A-Za-z0-9_-]{16,}`), "parley_" + hidden},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + hidden},
	{regexp.MustCompile(`(?i)\b((?:proxy-)?authorization["']?\s*[:=]\s*\[?\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',\]]+`), "${1}" + hidden},
	// A password may contain an @. That of a database may contain any unescaped character: it ends at the last @ of the line.
	{regexp.MustCompile(`(?i)((?:postgres|postgresql|nats|tls|wss?)://[^\s/:@]*:)[^\r\n]*@`), "${1}" + hidden + "@"},
	{regexp.MustCompile(`(://[^\s/:@]*:)[^\s/]+@`), "${1}" + hidden + "@"},
	{regexp.MustCompile(`(?i)(password=)(?:'(?:[^'\\]|\\.)*'?|"[^"]*"?|[^\s&"']+)`), "${1}" + hidden},
}

// secretKeys are the names of attributes whose values are always hidden.
var secretKeys = []string{"authorization", "proxy-authorization", "cookie", "set-cookie", "password", "secret", "parley-page"}

// Redact replaces the secrets in a text.
func Redact(text string) string {
	for _, s := range secrets {
		text = s.pattern.ReplaceAllString(text, s.instead)
	}
	return text
}

func redactAttr(a slog.Attr) slog.Attr {
	if slices.Contains(secretKeys, strings.ToLower(a.Key)) {
		return slog.String(a.Key, hidden)
	}
	return slog.Attr{Key: Redact(a.Key), Value: redactValue(a.Value.Resolve())}
}

func redactValue(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(Redact(v.String()))
	case slog.KindGroup:
		var clean []slog.Attr
		for _, a := range v.Group() {
			clean = append(clean, redactAttr(a))
		}
		return slog.GroupValue(clean...)
	case slog.KindDuration: // readable in JSON too
		return slog.StringValue(v.Duration().String())
	case slog.KindAny:
		return slog.StringValue(Redact(textOf(v.Any())))
	default:
		return v
	}
}

// textOf returns the text of a value of any type: its Error or String method, else JSON.
func textOf(value any) string {
	switch v := value.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	if text, err := json.Marshal(value); err == nil {
		return string(text)
	}
	return fmt.Sprintf("%+v", value)
}

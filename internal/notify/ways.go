package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/parley-hub/parley/internal/runtime/command"
)

// make returns the way that the settings of a person describe.
func (s *Service) make(client *http.Client, person string, w Way) sender {
	switch {
	case w.Telegram != nil:
		b := s.botOf(newBot(s, client, *w.Telegram))
		b.people[w.Telegram.Chat] = person
		return telegramChat{b, w.Telegram.Chat}
	case w.Ntfy != nil:
		return ntfyWay{client, *w.Ntfy}
	case w.Webhook != nil:
		return webhookWay{client, *w.Webhook}
	default:
		return commandWay{w.Command, command.Allowed(s.o.Environ)}
	}
}

// hashedName returns a name for a way whose URL or arguments may hold secrets: the kind and a short hash.
func hashedName(kind string, secret ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(secret, "\x00")))
	return kind + ":" + hex.EncodeToString(sum[:4])
}

// mustMarshal returns a value as JSON. It panics if that is impossible, so it is only for types of this package.
func mustMarshal(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic("notify: " + err.Error())
	}
	return body
}

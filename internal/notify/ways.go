package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/command"
	"github.com/parley-hub/parley/internal/runtime/webhook"
)

// make makes the way that a person's settings describe.
func (s *Service) make(client *http.Client, person string, w Way) way {
	switch {
	case w.Telegram != nil:
		b := s.botOf(newBot(s, client, *w.Telegram))
		b.people[w.Telegram.Chat] = person
		return chat{b, w.Telegram.Chat}
	case w.Ntfy != nil:
		return topic{client, *w.Ntfy}
	case w.Webhook != nil:
		return hook{client, *w.Webhook}
	default:
		return program{w.Command, command.Allowed(s.o.Environ)}
	}
}

// known is a name for what must not be shown.
func known(kind string, secret ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(secret, "\x00")))
	return kind + ":" + hex.EncodeToString(sum[:4])
}

// hook tells somebody's own program behind a URL.
type hook struct {
	client *http.Client
	Webhook
}

func (h hook) name() string { return known("webhook", h.URL) }

// hooked is the body of a call.
type hooked struct {
	ID        string           `json:"id"`
	Kind      string           `json:"kind"`
	Person    string           `json:"person"`
	Title     string           `json:"title"`
	Text      string           `json:"text"`
	CreatedAt time.Time        `json:"created_at"`
	Attempt   int              `json:"attempt"`
	Approval  *parley.Approval `json:"approval,omitempty"`
	Link      string           `json:"link,omitempty"`
}

func (h hook) send(ctx context.Context, l letter) (string, error) {
	secret, err := secretOf(h.SecretFile, h.SecretEnv).read()
	if err != nil {
		return "", short(err)
	}
	if h.WithoutLink {
		l.link = ""
	}
	n := l.notice
	return "", deliver(ctx, h.client, h.URL, hooked{
		n.ID, n.Kind, n.Person, n.Title, n.Text, n.CreatedAt, n.Attempt, l.about, l.link,
	}, func(r *http.Request, body []byte) {
		r.Header.Set("Idempotency-Key", n.ID)
		webhook.Sign(r, []byte(secret), body, time.Now())
	})
}

// topic tells whoever follows a topic of an ntfy server.
type topic struct {
	client *http.Client
	Ntfy
}

func (t topic) name() string { return known("ntfy", t.URL) }

// published is a message as an ntfy server takes it, at its root.
type published struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Click    string   `json:"click,omitempty"`
	Actions  []action `json:"actions,omitempty"`
}

type action struct {
	Action  string            `json:"action"`
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Clear   bool              `json:"clear"`
}

func (t topic) send(ctx context.Context, l letter) (string, error) {
	token, err := secretOf(t.TokenFile, t.TokenEnv).read()
	if err != nil {
		return "", short(err)
	}
	if t.WithoutLink {
		l.link = ""
	}
	server, name := t.split()
	return "", deliver(ctx, t.client, server, published{
		Topic: name, Title: l.title, Message: l.text, Priority: priority(l.notice.Kind), Click: l.link, Actions: actions(l),
	}, func(r *http.Request, _ []byte) {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	})
}

// priority is 4, high, for what waits for a person, and else 3, ntfy's default.
func priority(kind string) int {
	if kind == parley.NoticeApproval || kind == parley.NoticeAlert {
		return 4
	}
	return 3
}

func actions(l letter) []action {
	if l.link == "" {
		return nil
	}
	list := []action{{Action: "view", Label: "Open", URL: l.link}}
	if !l.asks() {
		return list
	}
	for _, answer := range [][2]string{{"Approve" + l.name(), "approve=1"}, {"Deny" + l.name(), "approve=0"}} {
		list = append(list, action{
			Action: "http", Label: answer[0], URL: l.link, Method: http.MethodPost, Body: answer[1], Clear: true,
			Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		})
	}
	return list
}

// encoded is for what can always be written as JSON.
func encoded(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic("notify: " + err.Error())
	}
	return body
}

package notify

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/webhook"
)

// webhookWay sends notifications to a URL, as signed requests.
type webhookWay struct {
	client *http.Client
	Webhook
}

func (h webhookWay) name() string { return hashedName("webhook", h.URL) }

// webhookBody is the body of a request.
type webhookBody struct {
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

func (h webhookWay) send(ctx context.Context, n notification) (string, error) {
	secret, err := secretOf(h.SecretFile, h.SecretEnv).read()
	if err != nil {
		return "", shortError(err)
	}
	if h.WithoutLink {
		n.link = ""
	}
	notice := n.notice
	return "", deliver(ctx, h.client, h.URL, webhookBody{
		notice.ID, notice.Kind, notice.Person, notice.Title, notice.Text, notice.CreatedAt, notice.Attempt, n.about, n.link,
	}, func(r *http.Request, body []byte) {
		r.Header.Set("Idempotency-Key", notice.ID)
		webhook.Sign(r, []byte(secret), body, time.Now())
	})
}

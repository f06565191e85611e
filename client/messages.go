package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Post hands in a message. When it returns without an error, the message is stored durably. A draft
// with an idempotency key may be posted again after an error, and is stored once.
func (c *Client) Post(ctx context.Context, d parley.Draft) (parley.Receipt, error) {
	if err := checkUTF8(d); err != nil {
		return parley.Receipt{}, err
	}
	// With the key as a header, net/http itself tries again on a connection that was closed meanwhile.
	r := request{method: http.MethodPost, key: d.IdempotencyKey}
	return callWith[parley.Receipt](ctx, c, r, d, 0, "messages")
}

// checkUTF8 refuses texts that JSON would change on their way to the hub.
func checkUTF8(d parley.Draft) error {
	texts := append([]string{
		d.Conversation, d.From, d.To, string(d.Type), d.InReplyTo, d.TraceID, d.IdempotencyKey,
		d.Content.Text, d.Content.Code, string(d.Payload), string(d.Metadata),
	}, d.Direct...)
	for _, a := range d.Content.Artifacts {
		texts = append(texts, a.Name, a.MediaType, a.SHA256, a.Path)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return notUTF8(text)
		}
	}
	return nil
}

func notUTF8(text string) error {
	return parley.Errorf(parley.BadInput, "%q is not UTF-8", clip(text)).Suggest("encode it as UTF-8, or send it as a file")
}

// clip is the beginning of a text.
func clip(text string) string { return text[:min(len(text), 40)] }

// Message returns a message with what has become of it.
func (c *Client) Message(ctx context.Context, id string) (parley.Shown, error) {
	return fetch[parley.Shown](ctx, c, nil, "messages", id)
}

// MaxWait is how long one call may wait.
const MaxWait = 50 * time.Second

// AwaitState returns a message once every waking delivery of it has reached a state (delivered, seen or
// answered) or ended, or when the time is up, which is no error. It waits at most MaxWait.
func (c *Client) AwaitState(ctx context.Context, id string, state parley.DeliveryState, wait time.Duration) (parley.Shown, error) {
	wait = min(wait, MaxWait)
	r := request{method: http.MethodGet, query: query("for", string(state), "wait", seconds(wait))}
	return callWith[parley.Shown](ctx, c, r, nil, wait, "messages", id)
}

// seconds writes a duration as the hub reads it.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// Thread returns a message and everything that answers it, directly or not, by seq. Of a long thread it has only a part, and
// says so.
func (c *Client) Thread(ctx context.Context, id string) (parley.Thread, error) {
	return fetch[parley.Thread](ctx, c, nil, "messages", id, "thread")
}

// Trace returns the messages of a trace that the caller may read, by seq, with what has become of them, and the runs it
// may see. It is named by its id, or by the id of one of its messages.
func (c *Client) Trace(ctx context.Context, id string) (parley.Traced, error) {
	return fetch[parley.Traced](ctx, c, nil, "traces", id)
}

// Redact erases the body of a message for good. Owners only.
func (c *Client) Redact(ctx context.Context, id, reason string) (parley.Message, error) {
	in := struct {
		Reason string `json:"reason,omitempty"`
	}{reason}
	return call[parley.Message](ctx, c, http.MethodPost, in, "messages", id, "redact")
}

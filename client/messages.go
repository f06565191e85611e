package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Post posts a message. If it returns no error, the message is stored on disk. A caller can post a draft with an idempotency
// key again after an error: the hub stores the message once.
func (c *Client) Post(ctx context.Context, d parley.Draft) (parley.Receipt, error) {
	if err := checkUTF8(d); err != nil {
		return parley.Receipt{}, err
	}
	// If the key is a header, net/http itself retries when an idle connection turns out to be closed.
	r := request{method: http.MethodPost, key: d.IdempotencyKey}
	return callWith[parley.Receipt](ctx, c, r, d, 0, "messages")
}

// checkUTF8 returns E003 if a text of a draft is not UTF-8: JSON would change it.
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
	return parley.Errorf(parley.BadInput, "%q is not UTF-8", shorten(text)).Suggest("encode it as UTF-8, or send it as a file")
}

// shorten returns the beginning of a text.
func shorten(text string) string { return text[:min(len(text), 40)] }

// Message returns a message with its deliveries.
func (c *Client) Message(ctx context.Context, id string) (parley.Shown, error) {
	return fetch[parley.Shown](ctx, c, nil, "messages", id)
}

// MaxWait is the longest time that one call waits. Contact may wait longer: see MaxContactWait.
const MaxWait = 50 * time.Second

// AwaitState waits until every waking delivery of a message has reached a state (delivered, seen or answered) or has ended,
// and returns the message. When the time is up, it returns the message too, without an error. It waits at most MaxWait.
func (c *Client) AwaitState(ctx context.Context, id string, state parley.DeliveryState, wait time.Duration) (parley.Shown, error) {
	wait = min(wait, MaxWait)
	r := request{method: http.MethodGet, query: query("for", string(state), "wait", seconds(wait))}
	return callWith[parley.Shown](ctx, c, r, nil, wait, "messages", id)
}

// seconds returns a duration as a number of seconds for a query.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// Thread returns a message with all direct and indirect answers to it, by seq. If the thread is long, it returns a part: Cut is
// then set, and Notice says how to read the rest.
func (c *Client) Thread(ctx context.Context, id string) (parley.Thread, error) {
	return fetch[parley.Thread](ctx, c, nil, "messages", id, "thread")
}

// Trace returns a trace: the messages that the caller may read, by seq, with their deliveries, and the runs that the caller
// may see. id is the trace's id, or names a message, run, approval or task of the trace.
func (c *Client) Trace(ctx context.Context, id string) (parley.Traced, error) {
	return fetch[parley.Traced](ctx, c, nil, "traces", id)
}

// Redact erases the content of a message for good. Only owners may call it.
func (c *Client) Redact(ctx context.Context, id, reason string) (parley.Message, error) {
	in := struct {
		Reason string `json:"reason,omitempty"`
	}{reason}
	return call[parley.Message](ctx, c, http.MethodPost, in, "messages", id, "redact")
}

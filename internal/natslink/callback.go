package natslink

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// maxSubjectLength is how long a subject may be that a request names.
const maxSubjectLength = 256

// copyResponses also publishes responses to the subject that their requests name in callback. The copies are in no stream; a
// subscriber gets them at least once.
func (o *outbox) copyResponses(ctx context.Context, batch []hub.Followed) error {
	copied := false
	for _, f := range batch {
		if f.Posted == nil || f.Posted.InReplyTo == "" || !slices.Contains(responses, f.Posted.Type) {
			continue
		}
		subject, err := o.callbackSubject(ctx, f.Posted.InReplyTo)
		if err != nil {
			return err
		}
		if subject == "" {
			continue
		}
		if err := o.copyTo(subject, f.Posted); err != nil {
			return err
		}
		copied = true
	}
	if !copied {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	return o.conn.FlushWithContext(ctx)
}

var responses = []parley.Type{parley.TypeResponse, parley.TypeResult, parley.TypeError}

func (o *outbox) copyTo(subject string, m *parley.Message) error {
	body, err := encode(*m)
	if err != nil {
		return err
	}
	wire, err := publication{subject, m.ID + ".callback", m, body}.natsMessage(o.conn.MaxPayload())
	if err != nil {
		return err
	}
	return o.conn.PublishMsg(wire)
}

// callbackSubject returns the subject that a request names for its response, or "". A removed request has none.
func (o *outbox) callbackSubject(ctx context.Context, request string) (string, error) {
	shown, err := o.hub.Message(ctx, hub.Caller{Agent: parley.System, Source: source}, request)
	if err != nil && parley.AsError(err).Code == parley.BadInput {
		return "", nil
	}
	if err != nil || shown.Type != parley.TypeRequest {
		return "", err
	}
	for _, raw := range []json.RawMessage{shown.Payload, shown.Metadata} {
		var p struct {
			Callback string `json:"callback"`
		}
		if json.Unmarshal(raw, &p) == nil && o.isCallbackSubject(p.Callback) {
			return p.Callback, nil
		}
	}
	return "", nil
}

// isCallbackSubject reports whether a subject belongs to this hub and is not one that the hub publishes to or subscribes to.
func (o *outbox) isCallbackSubject(subject string) bool {
	rest, ours := strings.CutPrefix(subject, o.subject(""))
	words := strings.Split(rest, ".")
	reserved := slices.Contains([]string{"conv", "inbox", "send"}, words[0])
	odd := strings.ContainsFunc(rest, func(r rune) bool { return r == '*' || r == '>' || unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return ours && len(subject) <= maxSubjectLength && !reserved && !odd && !slices.Contains(words, "")
}

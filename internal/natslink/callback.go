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

// maxSubjectLength is the longest subject that a request may name, in bytes.
const maxSubjectLength = 256

// copyResponses publishes a copy of each response to the subject that its request names in callback. No stream keeps the copies;
// a subscriber gets each at least once.
func (o *publisher) copyResponses(ctx context.Context, batch []hub.Followed) error {
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

func (o *publisher) copyTo(subject string, m *parley.Message) error {
	body, err := encode(*m)
	if err != nil {
		return err
	}
	copied, err := publication{subject, m.ID + ".callback", m, body}.natsMessage(o.conn.MaxPayload())
	if err != nil {
		return err
	}
	return o.conn.PublishMsg(copied)
}

// callbackSubject returns the subject that a request names for its response, or "". For an erased request it
// returns "".
func (o *publisher) callbackSubject(ctx context.Context, request string) (string, error) {
	message, err := o.hub.Message(ctx, hub.Caller{Agent: parley.System, Source: source}, request)
	if err != nil && parley.AsError(err).Code == parley.BadInput {
		return "", nil
	}
	if err != nil || message.Type != parley.TypeRequest {
		return "", err
	}
	for _, raw := range []json.RawMessage{message.Payload, message.Metadata} {
		var p struct {
			Callback string `json:"callback"`
		}
		if json.Unmarshal(raw, &p) == nil && o.isCallbackSubject(p.Callback) {
			return p.Callback, nil
		}
	}
	return "", nil
}

// isCallbackSubject reports whether a subject begins with the prefix of this hub and is not a subject that the hub itself uses.
func (o *publisher) isCallbackSubject(subject string) bool {
	rest, found := strings.CutPrefix(subject, o.subject(""))
	words := strings.Split(rest, ".")
	reserved := slices.Contains([]string{"conv", "inbox", "send"}, words[0])
	invalid := strings.ContainsFunc(rest, func(r rune) bool { return r == '*' || r == '>' || unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return found && len(subject) <= maxSubjectLength && !reserved && !invalid && !slices.Contains(words, "")
}

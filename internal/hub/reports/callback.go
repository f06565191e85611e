// Package reports holds the messages that tell participants how a task or an ask goes and ends: callbacks, copies of answers,
// progress reports, and documents in the format of the requester.
package reports

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Callback is a message by which the hub tells one waiting participant an outcome, in a conversation and a task.
type Callback struct {
	To           string
	Conversation string
	About        string // the participant whose DM is used if the recipient cannot read the conversation
	Task         string
	Source       string // delegation_result, ask_result, approval
	Text         parley.Wording
	InReplyTo    string // a message in the same conversation
	Trace        string
	Hops         int
	Purpose      parley.Purpose // empty: the callback wakes nobody
	from         string         // default: the hub
	Payload      json.RawMessage
	Kind         parley.Type // default: a result
	Subject      parley.Subject
}

// SendCallback posts a callback and returns the message. All members of the conversation can read it; only the recipient gets a
// delivery.
func SendCallback(u *unit.Unit, c Callback) (parley.Message, error) {
	recipient, err := u.Agents().Find(c.To)
	if err != nil {
		return parley.Message{}, err
	}
	where, err := FindCallbackConversation(u, c)
	if err != nil {
		return parley.Message{}, err
	}
	if where != c.Conversation {
		c.InReplyTo = ""
	}
	var reach []parley.NewDelivery
	if recipient.RemovedAt == nil {
		reach = []parley.NewDelivery{{Agent: recipient.ID, Wakes: c.Purpose != "", Purpose: c.Purpose}}
	}
	m := parley.Message{
		From: c.from, To: recipient.ID, Conversation: where, Type: cmp.Or(c.Kind, parley.TypeResult), Task: c.Task, Source: c.Source,
		InReplyTo: c.InReplyTo, TraceID: c.Trace, Hops: c.Hops, Payload: c.Payload,
	}
	if c.from == "" {
		if m, err = m.About(c.Subject); err != nil {
			return m, err
		}
		return messages.PostAsHub(u, m, u.Core.FittingWords(c.Text), reach...)
	}
	m.Content.Text = u.Core.Fitting(c.Text.Text)
	return messages.PostUnsent(u, m, reach...)
}

// FindCallbackConversation returns the conversation for a callback: the one where the recipient expects the callback. If the
// recipient cannot read that one, it is the DM with the participant that the callback is about, or with the hub.
func FindCallbackConversation(u *unit.Unit, c Callback) (string, error) {
	where, err := u.Conversations().Find(c.Conversation)
	if err == nil {
		isMember, err := conversations.TakesPart(u, where, c.To)
		if err != nil || isMember || where.ReadableByAll() {
			return where.ID, err
		}
	} else if !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	if c.About == "" || c.About == c.To { // the recipient was given the parent task
		c.About = parley.System
	}
	dm, err := conversations.Dm(u, c.To, c.About)
	return dm.ID, err
}

// PostNotification posts a notification to a person, in the DM of the hub and the person. The hub is the caller.
func PostNotification(u *unit.Unit, person string, text parley.Wording, payload json.RawMessage, key string) error {
	where, err := conversations.Direct(u, []string{person}, false)
	if err != nil {
		return err
	}
	_, err = messages.PostAsHub(u, parley.Message{
		To: person, Conversation: where.ID, Type: parley.TypeNotification, Payload: payload, IdempotencyKey: key,
	}, text, parley.NewDelivery{Agent: person})
	return err
}

package hub

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

// callback is what the hub tells one participant that waits for it, in a conversation and a task. It wakes it.
type callback struct {
	to           string
	conversation string
	about        string // whose DM with it is used where the conversation is gone, or is not its own any more
	task         string
	source       string // delegation_result, ask_result, approval
	text         parley.Wording
	inReplyTo    string // a message of the same conversation
	trace        string
	hops         int
	purpose      parley.Purpose // none: it is only posted
	from         string         // default: the hub
	payload      json.RawMessage
	kind         parley.Type // default: a result
}

// callBack posts a callback and returns the message. All members see it; only whom it is for gets a delivery.
func (s *scene) callBack(c callback) (parley.Message, error) {
	recipient, err := s.Agents().Find(c.to)
	if err != nil {
		return parley.Message{}, err
	}
	where, err := s.callbackPlace(c)
	if err != nil {
		return parley.Message{}, err
	}
	if where != c.conversation {
		c.inReplyTo = ""
	}
	var reach []parley.Reach
	if recipient.RemovedAt == nil {
		reach = []parley.Reach{{Agent: recipient.ID, Wakes: c.purpose != "", Purpose: c.purpose}}
	}
	m := parley.Message{
		From: c.from, To: recipient.ID, Conversation: where, Type: cmp.Or(c.kind, parley.TypeResult), Task: c.task, Source: c.source,
		InReplyTo: c.inReplyTo, TraceID: c.trace, Hops: c.hops, Payload: c.payload,
	}
	if c.from == "" {
		return s.speak(m, s.hub.fittingWords(c.text), reach...)
	}
	m.Content.Text = s.hub.fitting(c.text.Text)
	return s.utter(m, reach...)
}

// callbackPlace is where a callback is posted: where it is expected, or else in the DM with whoever it is about, or with
// the hub.
func (s *scene) callbackPlace(c callback) (string, error) {
	where, err := s.Conversations().Find(c.conversation)
	if err == nil {
		in, err := s.takesPart(where, c.to)
		if err != nil || in || where.ReadableByAll() {
			return where.ID, err
		}
	} else if !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	if c.about == "" || c.about == c.to { // who was given the task above its own
		c.about = parley.System
	}
	dm, err := s.dm(c.to, c.about)
	return dm.ID, err
}

// dm finds or opens the DM of two participants.
func (s *scene) dm(a, b string) (parley.Conversation, error) {
	set := parley.SetKey([]string{a, b})
	c, err := s.Conversations().FindSet(set)
	if !errors.Is(err, parley.ErrNotFound) {
		return c, err
	}
	p, err := s.create(parley.Conversation{Kind: parley.DM, Visibility: parley.Private, Set: set}, []string{a, b})
	return p.Conversation, err
}

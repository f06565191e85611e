package messages

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// TellFailed tells the sender of a delivery that it has failed for good.
func TellFailed(u *unit.Unit, d parley.Delivery, cause *parley.Error) error {
	return TellSender(u, d, cause, true)
}

// TellSender posts to the sender of a message, in its conversation, what has become of a delivery. The post wakes nobody, and an error never
// causes another error.
func TellSender(u *unit.Unit, d parley.Delivery, cause *parley.Error, final bool) error {
	about, awaited, err := messageOf(u, d)
	if err != nil {
		return err
	}
	if about.Type == parley.TypeError || about.From == parley.System || final && awaited {
		return nil // the ask or the callback tells the sender
	}
	sender, err := u.Agents().Find(about.From)
	if err != nil || sender.RemovedAt != nil {
		return err
	}
	payload, err := json.Marshal(struct {
		Error     *parley.Error        `json:"error"`
		Message   string               `json:"message"`
		Recipient string               `json:"recipient"`
		State     parley.DeliveryState `json:"state"`
		Final     bool                 `json:"final"`
	}{cause, d.Message, d.Recipient, d.State, final})
	if err != nil {
		return err
	}
	return PostError(u, parley.Message{
		TraceID: about.TraceID, Conversation: about.Conversation, To: sender.ID, Type: parley.TypeError, InReplyTo: about.ID, Payload: payload,
	}, deliveries.Sentence(cause, d.Recipient))
}

// messageOf returns the message of a delivery, and whether a participant waits for its outcome. For a damaged message the delivery
// gives the sender and the conversation.
func messageOf(u *unit.Unit, d parley.Delivery) (about parley.Message, awaited bool, err error) {
	about, err = u.Messages().Get(d.Message)
	if about.Damage == nil && (d.Damage == nil || err == nil) {
		return about, waits.IsAsk(about) || d.Purpose == parley.PurposeTask && about.Task != "", err
	}
	about = parley.Message{From: d.From, Conversation: d.Conversation, Type: parley.TypeChat}
	if parley.IsUUID(d.Message) {
		about.ID, about.TraceID = d.Message, d.Message
	}
	return about, d.Purpose == parley.PurposeAsk || d.Purpose == parley.PurposeTask, unit.IgnoreNotFound(err)
}

// PostError posts an error of the hub to one participant.
func PostError(u *unit.Unit, m parley.Message, text parley.Wording) error {
	m.ExpiresAt = unit.After(u.Now, deliveries.ErrorsKept)
	_, err := PostAsHub(u, m, text, parley.NewDelivery{Agent: m.To, Purpose: parley.PurposeError})
	return err
}

// PostAsHub posts a message of the hub. It stores with the message which of its words others wrote, so that readers do not take them for
// the hub's.
func PostAsHub(u *unit.Unit, m parley.Message, text parley.Wording, to ...parley.NewDelivery) (parley.Message, error) {
	m.From = parley.System
	m, err := m.Say(text)
	if err != nil {
		return m, err
	}
	return PostUnsent(u, m, to...)
}

// PostUnsent posts a message that no participant has sent: the hub's own, or one that the hub posts for an agent. If the conversation was
// deleted it posts nothing, and the message has no Seq.
func PostUnsent(u *unit.Unit, m parley.Message, to ...parley.NewDelivery) (parley.Message, error) {
	conv, err := u.Conversations().Find(m.Conversation)
	if errors.Is(err, parley.ErrNotFound) {
		return m, nil
	}
	if err == nil && conv.ArchivedAt != nil {
		err = conversations.SetArchived(u, &conv, false)
	}
	if err == nil {
		err = u.WriteEvents() // the events that led to the message come before it
	}
	if err != nil {
		return m, err
	}
	m.ID, m.Priority, m.CreatedAt = unit.NewID(), parley.DefaultPriority, u.Now
	unit.SetDefault(&m.Source, "hub")
	unit.SetDefault(&m.TraceID, m.ID)
	if m.Seq, err = u.Messages().NextSeq(); err != nil {
		return m, err
	}
	m.Checksum = m.Seal(m.BodyDigest())
	u.Touch(m.Conversation)
	if err := InsertRow(u.Tx, m); err != nil {
		return m, err
	}
	_, err = Deliver(u, m, to)
	return m, err
}

// TellDead notifies a person that a message has become a dead letter: its sender, or the owners if no person sent it.
func TellDead(u *unit.Unit, d parley.Delivery) error {
	people, err := agents.PersonOrOwners(u, d.From)
	if err != nil {
		return err
	}
	return notices.TellPeople(u, people, parley.Notice{
		Key: "dead/" + d.Message + "/" + d.Recipient, Kind: parley.NoticeDeadLetter,
		Title: "A message for " + d.Recipient + " could not be delivered",
		Text:  fmt.Sprintf("%s's message %s: %s.\nSee it with: parley dead list", d.From, d.ShortName(), d.Failure.Message),
	})
}

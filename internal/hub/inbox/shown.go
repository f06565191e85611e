package inbox

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// MarkShown marks messages as shown to the caller, a person. Their deliveries become seen. Deliveries that need no action of
// the person are settled; see work.IsWanted. If the person wrote a message, MarkShown marks the hub's error messages about it. The
// read cursor moves too, but not past a message that was not shown. For agents MarkShown changes nothing, because agents
// acknowledge what they take.
func (s *Service) MarkShown(ctx context.Context, caller unit.Caller, messages ...string) (list []parley.Delivery, err error) {
	if messages, err = s.names.FindMessages(ctx, caller, unit.OpMarkShown, messages); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpMarkShown, func(u *unit.Unit) error {
		if len(messages) == 0 || len(messages) > deliveries.MaxTaken {
			return parley.Errorf(parley.BadInput, "the call names %d messages", len(messages)).Suggest("name 1 to %d", deliveries.MaxTaken)
		}
		list, err = markShown(u, messages)
		return err
	})
	return list, err
}

// MarkShownInline marks the messages that a call has just returned to a person as shown. It returns false if the store fails. The
// person has the answer then, and the messages stay in the inbox.
func MarkShownInline(ctx context.Context, core *unit.Core, caller unit.Caller, messages []string) bool {
	err := core.Write(context.WithoutCancel(ctx), caller, unit.OpMarkShown, func(u *unit.Unit) error {
		_, err := markShown(u, messages)
		return err
	})
	if err != nil {
		core.Config.Log.Warn("cannot mark an answer as seen; it stays in the inbox", "participant", caller.Agent, "error", err)
	}
	return err == nil
}

// markShown marks messages as shown to the caller, and returns the caller's deliveries of them.
func markShown(u *unit.Unit, ids []string) (list []parley.Delivery, err error) {
	if u.Me.Kind != parley.KindHuman {
		return nil, nil
	}
	messages, err := existingMessages(u, ids)
	if err != nil {
		return nil, err
	}
	shown := map[string][]parley.Message{} // by conversation
	var order []string
	for _, m := range messages {
		if shown[m.Conversation] == nil {
			order = append(order, m.Conversation)
		}
		about := []parley.Message{m}
		if m.From == u.Me.ID {
			if about, err = errorsAbout(u, m); err != nil {
				return nil, err
			}
		}
		shown[m.Conversation] = append(shown[m.Conversation], about...)
	}
	for _, conversation := range order {
		settled, err := markShownIn(u, conversation, shown[conversation])
		if err != nil {
			return nil, err
		}
		list = append(list, settled...)
	}
	return list, nil
}

// existingMessages reads messages. It leaves out messages that do not exist.
func existingMessages(u *unit.Unit, ids []string) (list []parley.Message, err error) {
	remaining := slices.Clone(ids)
	for {
		page, err := u.Messages().GetAll(remaining)
		if err != nil || len(page) == 0 {
			return list, err
		}
		list = append(list, page...)
		before := len(remaining)
		remaining = slices.DeleteFunc(remaining, func(id string) bool {
			return slices.ContainsFunc(page, func(m parley.Message) bool { return m.ID == id })
		})
		if len(remaining) == before || len(remaining) == 0 {
			return list, nil
		}
	}
}

// errorsAbout returns the messages by which the hub told the sender of a message that a delivery failed or is late.
func errorsAbout(u *unit.Unit, m parley.Message) ([]parley.Message, error) {
	replies, err := u.Messages().Replies(m.ID, work.MaxErrors)
	return slices.DeleteFunc(replies, func(reply parley.Message) bool {
		return reply.From != parley.System || reply.Type != parley.TypeError
	}), err
}

// markShownIn marks messages of one conversation as shown to the caller.
func markShownIn(u *unit.Unit, conversation string, shown []parley.Message) (list []parley.Delivery, err error) {
	answered := false
	for _, m := range shown {
		d, err := u.Deliveries().Get(m.ID, u.Me.ID)
		if errors.Is(err, parley.ErrNotFound) {
			continue
		}
		before := d.State
		if err == nil {
			err = markDeliveryShown(u, &d, m)
		}
		if err != nil {
			return nil, err
		}
		answered = answered || m.InReplyTo != "" && d.State != before
		list = append(list, d)
	}
	p, err := conversations.Conversation(u, conversation)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden || err == nil && !p.Joined {
		return list, nil
	}
	if err == nil {
		err = moveCursorPastShown(u, p, shown)
	}
	if err == nil && answered {
		err = work.ArchiveAnswered(u, p.Conversation)
	}
	return list, err
}

// markDeliveryShown marks a delivery as seen, and settles it unless its recipient must act on it.
func markDeliveryShown(u *unit.Unit, d *parley.Delivery, m parley.Message) error {
	if d.Lease != "" || d.Damage != nil || d.State != parley.DeliveryAccepted && d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen {
		return nil
	}
	wanted, err := work.IsWanted(u, *d, m)
	switch {
	case err != nil:
		return err
	case !wanted:
		return deliveries.SetState(u, d, parley.DeliveryAcked, nil)
	case d.State == parley.DeliverySeen:
		return nil
	case d.Waking:
		return deliveries.SetState(u, d, parley.DeliverySeen, nil)
	case d.State == parley.DeliveryAccepted: // a delivery that wakes nobody stays in the inbox only while it is open
		return deliveries.SetState(u, d, parley.DeliveryDelivered, nil)
	default:
		return nil
	}
}

// moveCursorPastShown moves the caller's read cursor to the last of the messages that were shown, but not past one that was not
// shown. In a conversation with fixed members each message of another member has a delivery, unless it reaches the caller by an
// ask or a callback.
func moveCursorPastShown(u *unit.Unit, p conversations.Place, shown []parley.Message) error {
	m, err := u.Members().Get(p.ID, u.Me.ID)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	last := int64(0)
	for _, message := range shown {
		last = max(last, message.Seq)
	}
	if last <= m.ReadSeq {
		return nil
	}
	pass := lastBeforeUnshownMessage
	if p.FixedMembers() {
		pass = lastBeforeOpenDelivery
	}
	to, err := pass(u, m, shown, last)
	if err != nil || to <= m.ReadSeq {
		return err
	}
	m.ReadSeq = to
	return conversations.MoveCursor(u, m)
}

// lastBeforeOpenDelivery returns the seq up to which a cursor can move towards last: it stops before an open delivery whose
// message was not shown.
func lastBeforeOpenDelivery(u *unit.Unit, m parley.Member, shown []parley.Message, last int64) (int64, error) {
	list, err := u.Deliveries().Between(m.Conversation, m.Agent, m.ReadSeq, last, unit.ReadBatch)
	if err != nil {
		return m.ReadSeq, err
	}
	for _, d := range list {
		if d.Open() && !containsMessage(shown, d.Message) {
			return d.Seq - 1, nil
		}
	}
	if len(list) == unit.ReadBatch {
		return list[unit.ReadBatch-1].Seq, nil
	}
	return last, nil
}

// lastBeforeUnshownMessage returns the seq up to which a cursor can move towards last: it stops before a message of another
// participant that was not shown.
func lastBeforeUnshownMessage(u *unit.Unit, m parley.Member, shown []parley.Message, last int64) (int64, error) {
	to := m.ReadSeq
	page, err := u.Messages().Page(m.Conversation, parley.Page{Forward: true, After: m.ReadSeq, Limit: unit.ReadBatch})
	for _, message := range page {
		if message.Seq > last {
			break
		}
		if message.From != m.Agent && !containsMessage(shown, message.ID) {
			d, err := u.Deliveries().Get(message.ID, m.Agent)
			if err != nil || d.Open() {
				return to, unit.IgnoreNotFound(err)
			}
		}
		to = message.Seq
	}
	return to, err
}

func containsMessage(list []parley.Message, id string) bool {
	return slices.ContainsFunc(list, func(m parley.Message) bool { return m.ID == id })
}

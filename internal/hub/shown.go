package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// MarkShown says that the caller, a person, has been shown messages. The person has seen them, and those that want nothing
// of the person are settled; see wants. An own message stands for what the hub has told its sender about it. The read
// cursor follows, but passes nothing that was not shown. For agents nothing changes: they acknowledge what they take.
func (h *Hub) MarkShown(ctx context.Context, caller Caller, messages ...string) (list []parley.Delivery, err error) {
	if messages, err = h.findMessages(ctx, caller, opMarkShown, messages); err != nil {
		return nil, err
	}
	err = h.update(ctx, caller, opMarkShown, func(s *scene) error {
		if len(messages) == 0 || len(messages) > mostTaken {
			return parley.Errorf(parley.BadInput, "%d messages are named", len(messages)).Suggest("name 1 to %d", mostTaken)
		}
		list, err = s.markShown(messages)
		return err
	})
	return list, err
}

// shownInline marks what a call has just returned to a person as shown, and reports whether it could. The person has the
// answer: if marking fails, the answer counts and the messages stay in the inbox.
func (h *Hub) shownInline(ctx context.Context, caller Caller, messages []string) bool {
	err := h.write(context.WithoutCancel(ctx), caller, opMarkShown, func(s *scene) error {
		_, err := s.markShown(messages)
		return err
	})
	if err != nil {
		h.config.Log.Warn("cannot mark an answer as seen; it stays in the inbox", "participant", caller.Agent, "error", err)
	}
	return err == nil
}

// markShown marks messages as shown to the caller, and returns its deliveries of them.
func (s *scene) markShown(ids []string) (list []parley.Delivery, err error) {
	if s.me.Kind != parley.KindHuman {
		return nil, nil
	}
	messages, err := s.allMessages(ids)
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
		if m.From == s.me.ID {
			if about, err = s.errorsAbout(m); err != nil {
				return nil, err
			}
		}
		shown[m.Conversation] = append(shown[m.Conversation], about...)
	}
	for _, conversation := range order {
		settled, err := s.shownIn(conversation, shown[conversation])
		if err != nil {
			return nil, err
		}
		list = append(list, settled...)
	}
	return list, nil
}

// allMessages reads messages. Those that there are not are left out.
func (s *scene) allMessages(ids []string) (list []parley.Message, err error) {
	left := slices.Clone(ids)
	for {
		some, err := s.Messages().GetAll(left)
		if err != nil || len(some) == 0 {
			return list, err
		}
		list = append(list, some...)
		before := len(left)
		left = slices.DeleteFunc(left, func(id string) bool {
			return slices.ContainsFunc(some, func(m parley.Message) bool { return m.ID == id })
		})
		if len(left) == before || len(left) == 0 {
			return list, nil
		}
	}
}

// mostErrors bounds what is looked at to find the errors about one message.
const mostErrors = 100

// errorsAbout are the messages by which the hub has told the sender of a message what became of it.
func (s *scene) errorsAbout(m parley.Message) ([]parley.Message, error) {
	replies, err := s.Messages().Replies(m.ID, mostErrors)
	return slices.DeleteFunc(replies, func(reply parley.Message) bool {
		return reply.From != parley.System || reply.Type != parley.TypeError
	}), err
}

// shownIn marks messages of one conversation as shown to the caller.
func (s *scene) shownIn(conversation string, shown []parley.Message) (list []parley.Delivery, err error) {
	answered := false
	for _, m := range shown {
		d, err := s.Deliveries().Get(m.ID, s.me.ID)
		if errors.Is(err, parley.ErrNotFound) {
			continue
		}
		before := d.State
		if err == nil {
			err = s.shownOne(&d, m)
		}
		if err != nil {
			return nil, err
		}
		answered = answered || m.InReplyTo != "" && d.State != before
		list = append(list, d)
	}
	p, err := s.conversation(conversation)
	if _, hidden := errors.AsType[unknown](err); hidden || err == nil && !p.joined {
		return list, nil
	}
	if err == nil {
		err = s.followShown(p, shown)
	}
	if err == nil && answered {
		err = s.archiveAnswered(p.Conversation)
	}
	return list, err
}

// shownOne marks a delivery as seen, and settles it unless something is wanted of its recipient.
func (s *scene) shownOne(d *parley.Delivery, m parley.Message) error {
	if d.Lease != "" || d.Damage != nil || d.State != parley.DeliveryAccepted && d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen {
		return nil
	}
	wanted, err := s.wants(*d, m)
	switch {
	case err != nil:
		return err
	case !wanted:
		return s.move(d, parley.DeliveryAcked, nil)
	case d.State == parley.DeliverySeen:
		return nil
	case d.Waking:
		return s.move(d, parley.DeliverySeen, nil)
	case d.State == parley.DeliveryAccepted: // only what is open stays in the inbox if it wakes nobody
		return s.move(d, parley.DeliveryDelivered, nil)
	default:
		return nil
	}
}

// wants reports whether a delivery still wants something of its recipient: an answer to an ask that somebody waits for, a
// task that is open and its own, a decision, or an ack by a deadline.
func (s *scene) wants(d parley.Delivery, m parley.Message) (bool, error) {
	switch d.Purpose {
	case parley.PurposeAsk:
		w, err := s.Waits().Ask(d.Message)
		return err == nil && !w.State.Ended() && w.State != parley.WaitAbandoned, ignoreNotFound(err)
	case parley.PurposeTask:
		t, err := s.Tasks().Get(m.Task)
		return err == nil && m.Type != parley.TypeStatus && !t.Status.Ended() && t.Assignee == d.Recipient, ignoreNotFound(err)
	case parley.PurposeApproval:
		a, err := s.Approvals().Get(asksFor(m))
		return err == nil && a.State == parley.ApprovalPending, ignoreNotFound(err)
	default:
		return d.Deadline != nil, nil
	}
}

// followShown moves the caller's read cursor to the last of the messages it was shown, but not past one that it was not
// shown. Where the members are fixed, each message of another has a delivery, unless it reaches the caller by its ask or
// by a callback.
func (s *scene) followShown(p place, shown []parley.Message) error {
	m, err := s.Members().Get(p.ID, s.me.ID)
	if err != nil {
		return ignoreNotFound(err)
	}
	last := int64(0)
	for _, one := range shown {
		last = max(last, one.Seq)
	}
	if last <= m.ReadSeq {
		return nil
	}
	pass := (*scene).passMessages
	if p.FixedMembers() {
		pass = (*scene).passDeliveries
	}
	to, err := pass(s, m, shown, last)
	if err != nil || to <= m.ReadSeq {
		return err
	}
	m.ReadSeq = to
	return s.moveCursor(m)
}

// passDeliveries is how far a cursor can move towards a message before an open delivery that was not shown.
func (s *scene) passDeliveries(m parley.Member, shown []parley.Message, last int64) (int64, error) {
	list, err := s.Deliveries().Between(m.Conversation, m.Agent, m.ReadSeq, last, readBatch)
	if err != nil {
		return m.ReadSeq, err
	}
	for _, d := range list {
		if d.Open() && !contains(shown, d.Message) {
			return d.Seq - 1, nil
		}
	}
	if len(list) == readBatch {
		return list[readBatch-1].Seq, nil
	}
	return last, nil
}

// passMessages is how far a cursor can move towards a message before another's message that was not shown.
func (s *scene) passMessages(m parley.Member, shown []parley.Message, last int64) (int64, error) {
	to := m.ReadSeq
	page, err := s.Messages().Page(m.Conversation, parley.Page{Forward: true, After: m.ReadSeq, Limit: readBatch})
	for _, one := range page {
		if one.Seq > last {
			break
		}
		if one.From != m.Agent && !contains(shown, one.ID) {
			d, err := s.Deliveries().Get(one.ID, m.Agent)
			if err != nil || d.Open() {
				return to, ignoreNotFound(err)
			}
		}
		to = one.Seq
	}
	return to, err
}

func contains(list []parley.Message, id string) bool {
	return slices.ContainsFunc(list, func(m parley.Message) bool { return m.ID == id })
}

// archiveAnswered archives an ephemeral conversation whose answer the caller, who began it, has seen, unless something in
// it is open.
func (s *scene) archiveAnswered(c parley.Conversation) error {
	if c.Kind != parley.Ephemeral || c.CreatedBy != s.me.ID || c.ArchivedAt != nil {
		return nil
	}
	open, err := s.Deliveries().Open(c.ID)
	if err != nil || open {
		return err
	}
	return s.setArchived(&c, true)
}

// mostWanted bounds what is read of what a person must act on.
const mostWanted = 1000

// shownAndWanted are the deliveries for a purpose that a person has fetched or seen and has not acted on.
func (s *scene) shownAndWanted(who parley.Agent, purpose parley.Purpose) ([]parley.Delivery, error) {
	if who.Kind != parley.KindHuman {
		return nil, nil
	}
	list, err := s.Queue().Newest(parley.InboxPage{Recipient: who.ID, Wanted: true, Limit: mostWanted})
	return slices.DeleteFunc(list, func(d parley.Delivery) bool {
		return d.Purpose != purpose || d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen || d.Lease != ""
	}), err
}

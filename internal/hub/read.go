package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// History returns a part of a conversation, oldest message first. Reading consumes nothing.
func (h *Hub) History(ctx context.Context, caller Caller, ref string, page parley.Page) (list []parley.Message, err error) {
	defer h.read(time.Now(), &err)
	page.Limit = clamp(page.Limit, 50, 1000)
	err = h.view(ctx, caller, opListMessages, func(s *scene) error {
		list, err = s.readPage(caller, &ref, page)
		return err
	})
	return list, h.heldOr(ctx, caller, err, toolRead, readArgs{ref, page})
}

// readPage reads a part of a conversation, whose id it puts in place of what it was called: a call that is held is for
// that one, whatever is renamed until it is approved.
func (s *scene) readPage(caller Caller, ref *string, page parley.Page) ([]parley.Message, error) {
	p, err := s.conversation(*ref)
	if err != nil {
		return nil, err
	}
	*ref = p.ID
	if err := s.mustRead(origin{caller: caller}, p.ID); err != nil {
		return nil, err
	}
	return s.Messages().Page(p.ID, page)
}

// Context returns what the caller sees when it is woken: the last messages of one conversation, as
// many as its own limit says.
func (h *Hub) Context(ctx context.Context, caller Caller, ref string) (list []parley.Message, err error) {
	defer h.read(time.Now(), &err)
	var page parley.Page
	err = h.view(ctx, caller, opReadContext, func(s *scene) error {
		page.Limit = s.me.ContextMessages
		list, err = s.readPage(caller, &ref, page)
		return err
	})
	return list, h.heldOr(ctx, caller, err, toolRead, readArgs{ref, page})
}

// Message shows one message.
func (h *Hub) Message(ctx context.Context, caller Caller, id string) (shown parley.Shown, err error) {
	if err := h.findID(ctx, caller, opShowMessage, parley.NounMessage, &id); err != nil {
		return shown, err
	}
	err = h.view(ctx, caller, opShowMessage, func(s *scene) error {
		var err error
		if shown.Message, _, err = s.message(id); err != nil {
			return err
		}
		if err := s.mustReadMessage(caller, shown.Message); err != nil {
			return err
		}
		if shown.Damage != nil {
			return shown.Damage
		}
		shown.Deliveries, err = s.Deliveries().Of(shown.ID)
		return err
	})
	return shown, h.heldOr(ctx, caller, err, toolMessage, messageArgs{Message: id})
}

// Messages returns those of some messages, named in their order, that there are and the caller may read.
// Where they are large it stops before the end: rest are those it has not looked at.
func (h *Hub) Messages(ctx context.Context, caller Caller, ids []string) (list []parley.Message, rest []string, err error) {
	err = h.view(ctx, caller, opShowMessage, func(s *scene) error {
		found, err := s.Messages().GetAll(ids)
		if err != nil || len(found) == 0 {
			return err
		}
		rest = ids[slices.Index(ids, found[len(found)-1].ID)+1:]
		for _, m := range found {
			_, err := s.conversation(m.Conversation)
			if err == nil {
				err = s.mustReadMessage(caller, m)
			}
			_, hidden := errors.AsType[unknown](err)
			_, held := errors.AsType[heldBy](err)
			if hidden || held {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, m)
		}
		return nil
	})
	return list, rest, err
}

const maxThread = 1000

// Thread returns a message and everything that answers it, directly or not, in order: at most a thousand messages, and
// about 4 MiB of texts. If there may be more, it says so.
func (h *Hub) Thread(ctx context.Context, caller Caller, id string) (found parley.Thread, err error) {
	if err := h.findID(ctx, caller, opReadThread, parley.NounMessage, &id); err != nil {
		return found, err
	}
	err = h.view(ctx, caller, opReadThread, func(s *scene) error {
		root, where, err := s.message(id)
		if err != nil {
			return err
		}
		if err := s.mustRead(origin{caller: caller}, where.ID); err != nil {
			return err
		}
		found, err = s.thread(root)
		return err
	})
	return found, h.heldOr(ctx, caller, err, toolMessage, messageArgs{Message: id, Thread: true})
}

func (s *scene) thread(root parley.Message) (found parley.Thread, err error) {
	list, size, looked := []parley.Message{root}, root.Size(), 0
	for ; looked < len(list) && len(list) < maxThread && size < readBytes; looked++ {
		replies, err := s.Messages().Replies(list[looked].ID, maxThread-len(list))
		if err != nil {
			return found, err
		}
		for _, m := range replies {
			if m.Conversation == root.Conversation { // what was imported may claim otherwise
				list = append(list, m)
				size += m.Size()
			}
		}
	}
	found.Cut = looked < len(list)
	sortBySeq(list)
	if found.Items = list; found.Cut {
		found.Notice = fmt.Sprintf("only %d messages of this thread are shown, there may be more: read the threads of the last of them, "+
			"or the messages of conversation %s after number %d", len(list), root.Conversation, root.Seq)
	}
	return found, nil
}

// mustReadMessage is mustRead for one message. What the caller wrote, or was delivered, is its own to read.
func (s *scene) mustReadMessage(caller Caller, m parley.Message) error {
	if s.me.Mode != parley.ModeStrict || m.From == s.me.ID {
		return nil
	}
	d, err := s.Deliveries().Get(m.ID, s.me.ID)
	if err == nil && d.Damage != nil {
		return d.Damage.Err() // it may be another's
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return s.mustRead(origin{caller: caller}, m.Conversation)
}

// MarkRead moves the caller's read cursor in a conversation forward, to a message or (0) to the
// newest. It never moves back. What a person has not seen for long is passed in small updates, so that
// nobody waits for it.
func (h *Hub) MarkRead(ctx context.Context, caller Caller, ref string, seq int64) error {
	if err := h.limit(ctx, caller); err != nil {
		return err
	}
	for there := false; !there; {
		err := h.write(ctx, caller, opMarkRead, func(s *scene) (err error) {
			p, err := s.conversation(ref)
			if err != nil {
				return err
			}
			if seq == 0 || seq > p.LastSeq {
				seq = p.LastSeq
			}
			there, err = s.readOn(p, seq)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const readBatch = 200

// readOn moves the caller's cursor towards a message, past at most readBatch of what was delivered to a
// person, which has seen that with it. It says whether the cursor is there.
func (s *scene) readOn(p place, seq int64) (there bool, err error) {
	if !p.joined {
		return false, parley.Errorf(parley.BadInput, "%s does not take part in %s", s.me.ID, p.Title()).Suggest("join it first")
	}
	m, err := s.Members().Get(p.ID, s.me.ID)
	if err != nil || seq <= m.ReadSeq {
		return true, err
	}
	var passed []parley.Delivery
	if s.me.Kind == parley.KindHuman {
		if passed, err = s.Deliveries().Between(p.ID, s.me.ID, m.ReadSeq, seq, readBatch); err != nil {
			return false, err
		}
	}
	m.ReadSeq = seq
	if len(passed) == readBatch {
		m.ReadSeq = passed[readBatch-1].Seq
	}
	if err := s.moveCursor(m); err != nil {
		return false, err
	}
	return m.ReadSeq == seq, s.seePassed(passed)
}

func (s *scene) moveCursor(m parley.Member) error {
	data, err := json.Marshal(map[string]int64{"read_seq": m.ReadSeq})
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: parley.EventCursorMoved, Conversation: m.Conversation, Agent: m.Agent, Data: data})
	return s.Members().Put(m)
}

// seePassed marks what a person's cursor has passed as seen.
func (s *scene) seePassed(list []parley.Delivery) error {
	for i := range list {
		if list[i].State != parley.DeliveryAccepted && list[i].State != parley.DeliveryDelivered {
			continue
		}
		if err := s.move(&list[i], parley.DeliverySeen, nil); err != nil {
			return err
		}
	}
	return nil
}

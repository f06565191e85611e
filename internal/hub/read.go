package hub

import (
	"context"
	"encoding/json"

	"github.com/parley-hub/parley"
)

// History returns a part of a conversation, oldest message first. Reading consumes nothing.
func (h *Hub) History(ctx context.Context, caller Caller, ref string, page parley.Page) (list []parley.Message, err error) {
	page.Limit = clamp(page.Limit, 50, 1000)
	err = h.view(ctx, caller, func(s *scene) error {
		p, err := s.conversation(ref)
		if err != nil {
			return err
		}
		list, err = s.Messages().Page(p.ID, page)
		return err
	})
	return list, err
}

// Context returns what the caller sees when it is woken: the last messages of one conversation, as
// many as its own limit says.
func (h *Hub) Context(ctx context.Context, caller Caller, ref string) (list []parley.Message, err error) {
	err = h.view(ctx, caller, func(s *scene) error {
		p, err := s.conversation(ref)
		if err != nil {
			return err
		}
		list, err = s.Messages().Page(p.ID, parley.Page{Limit: s.me.ContextMessages})
		return err
	})
	return list, err
}

// Shown is a message with what has become of it.
type Shown struct {
	parley.Message
	Deliveries []parley.Delivery `json:"deliveries,omitempty"`
}

// Message shows one message.
func (h *Hub) Message(ctx context.Context, caller Caller, id string) (shown Shown, err error) {
	err = h.view(ctx, caller, func(s *scene) error {
		var err error
		if shown.Message, _, err = s.message(id); err != nil {
			return err
		}
		shown.Deliveries, err = s.Deliveries().Of(shown.ID)
		return err
	})
	return shown, err
}

const maxThread = 1000

// Thread returns a message and everything that answers it, directly or not, in order.
func (h *Hub) Thread(ctx context.Context, caller Caller, id string) (list []parley.Message, err error) {
	err = h.view(ctx, caller, func(s *scene) error {
		root, _, err := s.message(id)
		if err != nil {
			return err
		}
		list = []parley.Message{root}
		for i := 0; i < len(list) && len(list) < maxThread; i++ {
			replies, err := s.Messages().Replies(list[i].ID, maxThread-len(list))
			if err != nil {
				return err
			}
			list = append(list, replies...)
		}
		sortBySeq(list)
		return nil
	})
	return list, err
}

// MarkRead moves the caller's read cursor in a conversation forward, to a message or (0) to the
// newest. It never moves back.
func (h *Hub) MarkRead(ctx context.Context, caller Caller, ref string, seq int64) error {
	return h.change(ctx, caller, ref, func(s *scene, p place) error {
		if !p.joined {
			return parley.Errorf(parley.BadInput, "%s does not take part in %s", s.me.ID, p.Title()).Suggest("join it first")
		}
		seq := seq // this may run again
		if seq == 0 || seq > p.LastSeq {
			seq = p.LastSeq
		}
		m, err := s.Members().Get(p.ID, s.me.ID)
		if err != nil || seq <= m.ReadSeq {
			return err
		}
		before := m.ReadSeq
		m.ReadSeq = seq
		data, err := json.Marshal(map[string]int64{"read_seq": seq})
		if err != nil {
			return err
		}
		s.note(parley.Event{Kind: parley.EventCursorMoved, Conversation: p.ID, Agent: s.me.ID, Data: data})
		if err := s.Members().Put(m); err != nil {
			return err
		}
		return s.read(p.ID, before, seq)
	})
}

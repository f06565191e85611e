package hub

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// Events waits for events after a number and returns those the caller may see, with the number to
// go on from. The list may be empty: then nothing among what has happened is for the caller.
func (h *Hub) Events(ctx context.Context, caller Caller, after int64) (list []parley.Event, next int64, err error) {
	// Who is no participant is told so before it waits.
	if err := h.view(ctx, caller, func(*scene) error { return nil }); err != nil {
		return nil, after, err
	}
	all, err := h.tail.next(ctx, after)
	if err != nil {
		return nil, after, h.explain(ctx, caller, err)
	}
	next = all[len(all)-1].Num
	err = h.view(ctx, caller, func(s *scene) error {
		readable := map[string]bool{}
		for _, e := range all {
			see, err := s.maySee(e, readable)
			if err != nil {
				return err
			}
			if see {
				list = append(list, e)
			}
		}
		return nil
	})
	if err != nil {
		return nil, after, err
	}
	return list, next, nil
}

// LastEvent is the number of the newest event: where somebody begins who only wants what comes.
func (h *Hub) LastEvent(ctx context.Context, caller Caller) (newest int64, err error) {
	err = h.view(ctx, caller, func(s *scene) error {
		_, newest, err = s.Log().Bounds()
		return err
	})
	return newest, err
}

// maySee cuts an event to the caller's rights. readable remembers conversations looked at.
func (s *scene) maySee(e parley.Event, readable map[string]bool) (bool, error) {
	if s.seesAll() {
		return true, nil
	}
	switch {
	case e.Kind == parley.EventCursorMoved && e.Agent != s.me.ID:
		return false, nil
	case e.Kind == parley.EventMemberLeft && e.Agent == s.me.ID:
		return true, nil // who is taken out of a conversation is told, though it cannot read it any more
	}
	if e.Conversation == "" {
		// The list of agents is everybody's.
		return slices.Contains([]parley.EventKind{parley.EventAgentAdded, parley.EventAgentChanged, parley.EventAgentRemoved}, e.Kind), nil
	}
	if see, ok := readable[e.Conversation]; ok {
		return see, nil
	}
	_, err := s.conversation(e.Conversation)
	if _, hidden := errors.AsType[unknown](err); err != nil && !hidden {
		return false, err
	}
	readable[e.Conversation] = err == nil
	return err == nil, nil
}

func sortBySeq(list []parley.Message) {
	slices.SortFunc(list, func(a, b parley.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}

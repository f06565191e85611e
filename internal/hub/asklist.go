package hub

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
)

// Asks lists asks that the caller made or was asked, for owners all, the newest first.
func (h *Hub) Asks(ctx context.Context, caller Caller, f parley.AskFilter) (views []parley.AskView, err error) {
	f.Limit = clamp(f.Limit, tasksShown, mostTasks)
	err = h.view(ctx, caller, opListAsks, func(s *scene) error {
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		reader := s.me.ID
		if s.seesAll() {
			reader = ""
		}
		list, err := s.Waits().Asks(reader, f)
		if err == nil {
			views, err = s.viewAsks(list)
		}
		return err
	})
	return views, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: listAsks, Asks: &f})
}

func (s *scene) viewAsks(list []parley.ListedAsk) ([]parley.AskView, error) {
	questions, err := s.questions(list)
	if err != nil {
		return nil, err
	}
	names, views := map[string]string{}, make([]parley.AskView, len(list))
	for i, w := range list {
		for _, id := range []string{w.Waiter, w.Target} {
			if names[id] != "" {
				continue
			}
			a, err := s.Agents().Find(id)
			if err != nil {
				return nil, err
			}
			names[id] = a.Name
		}
		question := questions[w.Message]
		views[i] = parley.AskView{
			Message: w.Message, Seq: w.Seq, Conversation: question.conversation, From: w.Waiter, FromName: names[w.Waiter], To: w.Target,
			ToName: names[w.Target], Question: question.line, Source: parley.TaskFromAsk,
		}
		if views[i].AskState, err = s.askState(w.Wait); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// question is what a list says of the message by which somebody asks.
type question struct{ conversation, line string }

// questions returns the first lines of asks, by the ids of their messages. The store bounds the text of one answer, so
// questions asks again for the rest.
func (s *scene) questions(list []parley.ListedAsk) (map[string]question, error) {
	found := map[string]question{}
	for {
		var ids []string
		for _, w := range list {
			if _, known := found[w.Message]; !known {
				ids = append(ids, w.Message)
			}
		}
		some, err := s.Messages().GetAll(ids)
		if err != nil || len(some) == 0 {
			return found, err
		}
		before := len(found)
		for _, m := range some {
			found[m.ID] = question{m.Conversation, parley.QuestionOf(m.Content.Text)}
		}
		if len(found) == before { // a damaged one that has lost its id
			return found, nil
		}
	}
}

// askState is the state of an ask. It names the task only to callers who may see it.
func (s *scene) askState(w parley.Wait) (parley.AskState, error) {
	state := parley.AskState{State: w.State, Since: w.Since, Until: w.Until, EndedAt: w.EndedAt}
	if w.Work == "" {
		return state, nil
	}
	t, err := s.Tasks().Get(w.Work)
	if err != nil {
		return state, ignoreNotFound(err)
	}
	sees, err := s.seesTask(t)
	if sees {
		state.Task = t.ID
	}
	return state, err
}

// tracedAsk is the state of the ask that a message makes, for callers who may see it; nil if the message is no ask.
func (s *scene) tracedAsk(m parley.Shown) (*parley.AskState, error) {
	if !slices.ContainsFunc(m.Deliveries, func(d parley.Delivery) bool { return d.Purpose == parley.PurposeAsk }) {
		return nil, nil
	}
	w, err := s.Waits().Ask(m.ID)
	if err != nil || !s.seesAll() && s.me.ID != w.Waiter && s.me.ID != w.Target {
		return nil, ignoreNotFound(err)
	}
	state, err := s.askState(w)
	return &state, err
}

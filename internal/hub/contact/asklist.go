package contact

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Asks lists asks that the caller made or received, the newest first. Owners see all asks.
func (s *Service) Asks(ctx context.Context, caller unit.Caller, f parley.AskFilter) (views []parley.AskView, err error) {
	f.Limit = unit.Clamp(f.Limit, tasks.TasksShown, tasks.MaxTasks)
	err = s.View(ctx, caller, unit.OpListAsks, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		reader := u.Me.ID
		if u.SeesAll() {
			reader = ""
		}
		list, err := u.Waits().Asks(reader, f)
		if err == nil {
			views, err = viewAsks(u, list)
		}
		return err
	})
	return views, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListAsks, Asks: &f})
}

func viewAsks(u *unit.Unit, list []storage.ListedAsk) ([]parley.AskView, error) {
	questions, err := questions(u, list)
	if err != nil {
		return nil, err
	}
	names, views := map[string]string{}, make([]parley.AskView, len(list))
	for i, w := range list {
		for _, id := range []string{w.Waiter, w.Target} {
			if names[id] != "" {
				continue
			}
			a, err := u.Agents().Find(id)
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
		if views[i].AskState, err = askState(u, w.Wait); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// question is the message of an ask as a list shows it.
type question struct{ conversation, line string }

// questions returns the first lines of asks, by the ids of their messages. The store bounds the text that it returns at once,
// so questions reads the rest in further calls.
func questions(u *unit.Unit, list []storage.ListedAsk) (map[string]question, error) {
	found := map[string]question{}
	for {
		var ids []string
		for _, w := range list {
			if _, known := found[w.Message]; !known {
				ids = append(ids, w.Message)
			}
		}
		page, err := u.Messages().GetAll(ids)
		if err != nil || len(page) == 0 {
			return found, err
		}
		before := len(found)
		for _, m := range page {
			found[m.ID] = question{m.Conversation, parley.QuestionOf(m.Content.Text)}
		}
		if len(found) == before { // a damaged message has lost its id
			return found, nil
		}
	}
}

// askState returns the state of an ask. It names the task only to callers who may see it.
func askState(u *unit.Unit, w parley.Wait) (parley.AskState, error) {
	state := parley.AskState{State: w.State, Since: w.Since, Until: w.Until, EndedAt: w.EndedAt}
	if w.AnswerTask == "" {
		return state, nil
	}
	t, err := u.Tasks().Get(w.AnswerTask)
	if err != nil {
		return state, unit.IgnoreNotFound(err)
	}
	sees, err := tasks.SeesTask(u, t)
	if sees {
		state.Task = t.ID
	}
	return state, err
}

// AskStateOf returns the state of the ask that a message makes, or nil if the message is no ask or the caller may not see the
// ask.
func AskStateOf(u *unit.Unit, m parley.Shown) (*parley.AskState, error) {
	if !slices.ContainsFunc(m.Deliveries, func(d parley.Delivery) bool { return d.Purpose == parley.PurposeAsk }) {
		return nil, nil
	}
	w, err := u.Waits().Ask(m.ID)
	if err != nil || !u.SeesAll() && u.Me.ID != w.Waiter && u.Me.ID != w.Target {
		return nil, unit.IgnoreNotFound(err)
	}
	state, err := askState(u, w)
	return &state, err
}

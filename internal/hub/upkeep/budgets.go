package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// SweepBudgets tells the responsible people about each agent whose runs wait for a budget: once in the hour or day of that
// budget.
func (s *Service) SweepBudgets(ctx context.Context) error {
	for id := range s.Budgets.Take() {
		err := s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return notifyOverspent(u, id) })
		if err != nil {
			s.Budgets.Note(id)
			return err
		}
	}
	return nil
}

func notifyOverspent(u *unit.Unit, id string) error {
	a, err := u.Agents().Find(id)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	waiting, err := u.Queue().Ready(storage.QueueFilter{Recipient: a.ID, Wakes: true, Limit: 1})
	if err != nil || len(waiting) == 0 {
		return err // nothing waits for the budget
	}
	excesses, err := presence.FindExcesses(u, a)
	if err != nil {
		return err
	}
	for _, e := range excesses {
		if err := notifyExcess(u, a, e); err != nil {
			return err
		}
	}
	return nil
}

func notifyExcess(u *unit.Unit, a parley.Agent, e presence.Excess) error {
	key := "budget " + e.Budget + " " + a.ID
	_, err := u.Messages().FindByKey(parley.System, key, u.Now.Add(-e.Window))
	if !errors.Is(err, parley.ErrNotFound) {
		return err // they know already
	}
	data, err := json.Marshal(struct {
		Name  string `json:"name"`
		State string `json:"state"`
		presence.Excess
	}{"budget", "on", e})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventAlert, Agent: a.ID, Data: data})
	people, err := agents.Responsible(u, a)
	if err != nil {
		return err
	}
	text := parley.Wording{}.Name(a.ID, a.Name).Own(" has used up a budget (" + e.Says + "); its messages are pending. " +
		"It continues by itself later; to continue now, raise the budget: parley agent set " + a.ID + " --" + strings.ReplaceAll(e.Budget, "_", "-") + " …")
	for _, person := range people {
		if err := reports.PostNotification(u, person, text, data, key); err != nil {
			return err
		}
	}
	return notices.TellPeople(u, people, parley.Notice{
		Key: "budget/" + a.ID + "/" + e.Budget + "/" + u.Now.Format(time.RFC3339), Kind: parley.NoticeBudget,
		Title: a.Name + " has used up a budget", Text: text.Text,
	})
}

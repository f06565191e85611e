package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// budgets remembers whose runs were held back because they have spent too much, until a person is told.
type budgets struct {
	mu   sync.Mutex
	over map[string]bool
}

func (b *budgets) note(agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		b.over = map[string]bool{}
	}
	b.over[agent] = true
}

func (b *budgets) take() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.over
	b.over = nil
	return over
}

// excess is a budget that is used up.
type excess struct {
	Agent  string  `json:"agent"`
	Budget string  `json:"budget"`
	Limit  float64 `json:"limit"`
	Spent  float64 `json:"spent"`
	window time.Duration
	says   string
}

// overspent names the budget that an agent has used up, if it has, and sees to it that a person is told. What
// is spent is what its runs of the last hour or day have used, so a restart changes nothing.
func (s *scene) overspent(a parley.Agent) (string, error) {
	over, err := s.excesses(a)
	if err != nil || len(over) == 0 {
		return "", err
	}
	s.hub.budgets.note(a.ID)
	return "over budget: " + over[0].says, nil
}

// excesses are the budgets that an agent has used up.
func (s *scene) excesses(a parley.Agent) (over []excess, err error) {
	b := a.Budget
	if b.RunsPerHour > 0 {
		hour, err := s.Runs().Spent(a.ID, s.now.Add(-time.Hour))
		if err != nil {
			return nil, err
		}
		if hour.Runs >= b.RunsPerHour {
			over = append(over, excess{
				a.ID, "runs_per_hour", float64(b.RunsPerHour), float64(hour.Runs), time.Hour,
				fmt.Sprintf("%d of %d runs in an hour", hour.Runs, b.RunsPerHour),
			})
		}
	}
	if b.TokensPerDay == 0 && b.CostPerDay == 0 {
		return over, nil
	}
	const aDay = 24 * time.Hour
	day, err := s.Runs().Spent(a.ID, s.now.Add(-aDay))
	if tokens := day.InputTokens + day.OutputTokens; b.TokensPerDay > 0 && tokens >= b.TokensPerDay {
		over = append(over, excess{
			a.ID, "tokens_per_day", float64(b.TokensPerDay), float64(tokens), aDay,
			fmt.Sprintf("%d of %d tokens in a day", tokens, b.TokensPerDay),
		})
	}
	if b.CostPerDay > 0 && day.Cost >= b.CostPerDay {
		over = append(over, excess{
			a.ID, "cost_per_day", b.CostPerDay, day.Cost, aDay,
			fmt.Sprintf("$%.2f of $%.2f in a day", day.Cost, b.CostPerDay),
		})
	}
	return over, err
}

// SweepBudgets tells a person of each agent whose runs were held back for a budget: once in the hour or day
// of that budget.
func (h *Hub) SweepBudgets(ctx context.Context) error {
	for id := range h.budgets.take() {
		err := h.write(ctx, theHub, opItself, func(s *scene) error { return s.tellOverspent(id) })
		if err != nil {
			h.budgets.note(id)
			return err
		}
	}
	return nil
}

func (s *scene) tellOverspent(id string) error {
	a, err := s.Agents().Find(id)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	waiting, err := s.Queue().Ready(parley.Queue{Recipient: a.ID, Wakes: true, Limit: 1})
	if err != nil || len(waiting) == 0 {
		return err // nothing is held back
	}
	over, err := s.excesses(a)
	if err != nil {
		return err
	}
	for _, e := range over {
		if err := s.tellExcess(a, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) tellExcess(a parley.Agent, e excess) error {
	key := "budget " + e.Budget + " " + a.ID
	_, err := s.Messages().Keyed(parley.System, key, s.now.Add(-e.window))
	if !errors.Is(err, parley.ErrNotFound) {
		return err // it was told
	}
	data, err := json.Marshal(struct {
		Name  string `json:"name"`
		State string `json:"state"`
		excess
	}{"budget", "on", e})
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: parley.EventAlert, Agent: a.ID, Data: data})
	people, err := s.responsible(a)
	if err != nil {
		return err
	}
	text := parley.Wording{}.Name(a.ID, a.Name).Own(" has used up a budget (" + e.says + "); what comes for it waits. " +
		"It goes on by itself, or raise the budget: parley agent set " + a.ID + " --" + strings.ReplaceAll(e.Budget, "_", "-") + " …")
	for _, person := range people {
		if err := s.notify(person, text, data, key); err != nil {
			return err
		}
	}
	return s.tellPeople(people, parley.Notice{
		Key: "budget/" + a.ID + "/" + e.Budget + "/" + s.now.Format(time.RFC3339), Kind: parley.NoticeBudget,
		Title: a.Name + " has used up a budget", Text: text.Text,
	})
}

// responsible are the people who are told of an agent: its manager, or else all owners.
func (s *scene) responsible(a parley.Agent) ([]string, error) {
	all, err := s.Agents().List()
	if err != nil {
		return nil, err
	}
	var owners []string
	for _, p := range all {
		switch {
		case p.Kind != parley.KindHuman || p.RemovedAt != nil:
		case p.ID == a.Manager:
			return []string{p.ID}, nil
		case p.Access == parley.AccessOwner:
			owners = append(owners, p.ID)
		}
	}
	return slices.Clip(owners), nil
}

// notify lets a person know something, in the DM of the hub and the person. The hub is the caller.
func (s *scene) notify(person string, text parley.Wording, payload json.RawMessage, key string) error {
	where, err := s.direct([]string{person}, false)
	if err != nil {
		return err
	}
	_, err = s.speak(parley.Message{
		To: person, Conversation: where.ID, Type: parley.TypeNotification, Payload: payload, IdempotencyKey: key,
	}, text, parley.Reach{Agent: person})
	return err
}

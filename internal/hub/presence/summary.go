package presence

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SweepSummaries writes a summary, every 15 minutes, for each agent that has done something since the last one.
func (s *Service) SweepSummaries(ctx context.Context) error {
	agents := s.Summaries.Take(s.Now())
	for part := range slices.Chunk(agents, unit.SweepBatch) {
		err := s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return SummarizeAll(u, part) })
		if err != nil {
			s.Summaries.Note(agents)
			return err
		}
	}
	return nil
}

// SummarizeAll writes a summary for each of some agents. It skips missing and removed agents.
func SummarizeAll(u *unit.Unit, ids []string) error {
	for _, id := range ids {
		a, err := u.Agents().Find(id)
		if err == nil && a.RemovedAt == nil {
			err = summarize(u, a)
		}
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return err
		}
	}
	return nil
}

// summary is the state of an agent, as everybody may see it.
type summary struct {
	Status      string       `json:"status"`
	Reason      string       `json:"reason,omitempty"`
	Inbox       parley.Inbox `json:"inbox"`
	LiveRuns    int          `json:"live_runs"`
	LastFailure *lastFailure `json:"last_failure,omitempty"`
}

type lastFailure struct {
	Run  string      `json:"run"`
	Code parley.Code `json:"code"`
	At   *time.Time  `json:"at,omitempty"`
}

// summarize writes an event with the state of an agent. The hub does so every 15 minutes, after each failed run and with each change of
// the agent's tasks.
func summarize(u *unit.Unit, a parley.Agent) error {
	defer u.SkipUnreadable(nil)() // a summary must not keep a task or a run from ending
	live, err := u.Runs().Live(a.ID)
	if err != nil {
		return err
	}
	status, err := StatusWith(u, a, len(live))
	if err != nil {
		return err
	}
	s := summary{Status: status.Status, Reason: status.Reason, LiveRuns: len(live)}
	if s.Inbox, err = u.Queue().Inbox(a.ID); err != nil {
		return err
	}
	failed, err := u.Runs().List(parley.RunFilter{Agent: a.ID, Failed: true, Limit: 1})
	if err != nil {
		return err
	}
	for _, r := range failed {
		s.LastFailure = &lastFailure{r.ID, r.Failure.Code, r.EndedAt}
	}
	data, err := json.Marshal(s)
	u.Note(parley.Event{Kind: parley.EventAgentSummary, Agent: a.ID, Data: data})
	return err
}

// SummarizeChangedTasks writes one summary for each agent whose tasks have changed in this transaction, and its presence if it has no live run.
func SummarizeChangedTasks(u *unit.Unit) error {
	slices.Sort(u.TasksChanged)
	agents := slices.Compact(u.TasksChanged)
	u.TasksChanged = nil
	for _, id := range agents {
		a, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		if a.Kind != parley.KindAgent || a.RemovedAt != nil {
			continue
		}
		if err := summarize(u, a); err != nil {
			return err
		}
		live, err := u.Runs().Live(a.ID)
		if err == nil && len(live) == 0 {
			err = NotePresenceOf(u, a, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

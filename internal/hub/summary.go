package hub

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// summaryEvery is how often the state of the agents is summed up.
const summaryEvery = 15 * time.Minute

// summaries knows whose state has changed since the last summary. For all others there is nothing to say.
type summaries struct {
	mu      sync.Mutex
	stirred map[string]bool
	last    time.Time
}

func (o *summaries) note(agents []string) {
	if len(agents) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stirred == nil {
		o.stirred = map[string]bool{}
	}
	for _, id := range agents {
		o.stirred[id] = true
	}
}

// take returns whom there is something to say of, once it is time.
func (o *summaries) take(now time.Time) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.last) < summaryEvery {
		return nil
	}
	agents := slices.Sorted(maps.Keys(o.stirred))
	o.stirred, o.last = nil, now
	return agents
}

// SweepSummaries sums up, every 15 minutes, the state of each agent that has done something meanwhile.
func (h *Hub) SweepSummaries(ctx context.Context) error {
	agents := h.summaries.take(h.now())
	for part := range slices.Chunk(agents, sweepBatch) {
		err := h.write(ctx, theHub, opItself, func(s *scene) error { return s.summarizeAll(part) })
		if err != nil {
			h.summaries.note(agents)
			return err
		}
	}
	return nil
}

func (s *scene) summarizeAll(ids []string) error {
	for _, id := range ids {
		a, err := s.Agents().Find(id)
		if err == nil && a.RemovedAt == nil {
			err = s.summarize(a)
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

// summarize writes an event with the state of an agent: every 15 minutes, whenever a run has failed, and
// with each change of its tasks.
func (s *scene) summarize(a parley.Agent) error {
	defer s.LeaveOut(nil)() // a summary must not keep a task or a run from ending
	live, err := s.Runs().Live(a.ID)
	if err != nil {
		return err
	}
	status, err := s.statusWith(a, len(live))
	if err != nil {
		return err
	}
	says := summary{Status: status.Status, Reason: status.Reason, LiveRuns: len(live)}
	if says.Inbox, err = s.Queue().Inbox(a.ID); err != nil {
		return err
	}
	failed, err := s.Runs().List(parley.RunFilter{Agent: a.ID, Failed: true, Limit: 1})
	if err != nil {
		return err
	}
	for _, r := range failed {
		says.LastFailure = &lastFailure{r.ID, r.Failure.Code, r.EndedAt}
	}
	data, err := json.Marshal(says)
	s.note(parley.Event{Kind: parley.EventAgentSummary, Agent: a.ID, Data: data})
	return err
}

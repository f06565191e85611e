package top

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

var moment = time.Date(2030, 1, 2, 10, 0, 0, 0, time.Local)

// fakeHub is a hub with the state that a test sets.
type fakeHub struct {
	mu       sync.Mutex
	snapshot Snapshot
	detail   Detail
	away     error
	refused  error // commands
	paused   []string
	commands []string
	events   chan parley.Event
	refusal  chan error
}

func newFakeHub() *fakeHub {
	h := &fakeHub{paused: []string{"gendry"}, events: make(chan parley.Event), refusal: make(chan error)}
	seen := moment.Add(-3 * time.Minute)
	work := []parley.Work{{Run: "r1", State: parley.RunRunning, Since: moment.Add(-75 * time.Second), Conversation: "c1", Channel: "project-alpha"}}
	asleep := moment.Add(2 * time.Hour)
	h.snapshot = Snapshot{
		At: moment, Hub: "127.0.0.1:7717",
		Status: parley.HubStatus{Totals: parley.Totals{Messages: 100, OpenDeliveries: 4, DeadLetters: 1}},
		Agents: []Agent{
			{Presence: parley.Presence{ID: "user", Kind: parley.KindHuman, Status: parley.StatusIdle}},
			{Presence: parley.Presence{ID: "parley", Kind: parley.KindSystem, Status: parley.StatusIdle}},
			{Presence: parley.Presence{ID: "gendry", Kind: parley.KindAgent, Status: parley.StatusIdle, Reason: "paused", Runtime: "codex", Inbox: parley.Inbox{Waking: 12}, LastSeen: &seen, Awaiting: parley.Awaiting{DelegationIDs: []string{"task-8", "task-9"}, ApprovalID: "a1"}}},
			{Presence: parley.Presence{ID: "hodor", Kind: parley.KindAgent, Status: parley.StatusSleeping, SleepingUntil: &asleep, Runtime: "script"}},
			{
				Presence: parley.Presence{ID: "arya", Kind: parley.KindAgent, Status: parley.StatusWorking, Runtime: "claude", Inbox: parley.Inbox{Waking: 2}, Work: work},
				LastHour: parley.Spent{Runs: 14}, LastDay: parley.Spent{Runs: 90, Usage: parley.Usage{InputTokens: 1_200_000, OutputTokens: 34_000, Cost: 12.5}},
			},
		},
		Runs: []parley.Run{{ID: "r1", Agent: "arya", Conversation: "c1", State: parley.RunRunning, CreatedAt: moment.Add(-75 * time.Second)}},
		Stuck: []parley.TaskView{{Task: parley.Task{
			ID: "task-7", Title: "Sharpen it", Assignee: "gendry", Status: parley.TaskActive, Progress: &parley.TaskProgress{Blockers: []string{"no stone"}},
		}}},
		Titles: map[string]string{"c1": "#project-alpha"},
	}
	started := moment.Add(-time.Hour)
	ended := started.Add(2500 * time.Millisecond)
	h.detail = Detail{
		View: parley.AgentView{
			Agent: parley.Agent{
				ID: "arya", UUID: "u1", Name: "AryaBot", Kind: parley.KindAgent, Paused: &parley.Halt{By: "user", Reason: "the build is red"},
				Profile: parley.Profile{Role: "writer", Runtime: "claude", Budget: parley.Budget{RunsPerHour: 30, CostPerDay: 20}},
			},
			Status: parley.StatusWorking, Inbox: parley.Inbox{Waking: 2, Quiet: 1}, Work: work, LastSeen: &seen,
			LastHour: &parley.Spent{Runs: 14}, LastDay: &parley.Spent{Runs: 90, Usage: parley.Usage{InputTokens: 1_200_000, OutputTokens: 34_000, Cost: 12.5}},
			Health: &parley.Health{Health: "healthy", At: moment.Add(-20 * time.Second)},
		},
		Runs: []parley.Run{
			{ID: "r1", State: parley.RunRunning, CreatedAt: moment.Add(-75 * time.Second)},
			{ID: "r0", State: parley.RunFailed, CreatedAt: started, StartedAt: &started, EndedAt: &ended, Failure: parley.Errorf(parley.DependencyFailed, "claude ended with exit code 1")},
		},
	}
	return h
}

// with changes the hub.
func (h *fakeHub) with(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func (h *fakeHub) Load(context.Context) (Snapshot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.snapshot
	p.Agents = slices.Clone(p.Agents)
	return p, h.away
}

func (h *fakeHub) Detail(_ context.Context, agent string) (Detail, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.detail
	d.View.ID = agent
	if !slices.Contains(h.paused, agent) {
		d.View.Paused = nil
	}
	return d, h.away
}

func (h *fakeHub) Command(_ context.Context, agent string, c parley.Command) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commands = append(h.commands, string(c.Action)+" "+agent)
	h.paused = slices.DeleteFunc(h.paused, func(id string) bool { return id == agent })
	if c.Action == parley.ActionPause {
		h.paused = append(h.paused, agent)
	}
	return h.refused
}

func (h *fakeHub) Follow(ctx context.Context, report func(parley.Event)) error {
	for {
		select {
		case e := <-h.events:
			report(e)
		case err := <-h.refusal:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

func happened(kind parley.EventKind, agent string, data any) parley.Event {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return parley.Event{At: moment, Kind: kind, Agent: agent, Data: raw}
}

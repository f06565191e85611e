package hub

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// bridgeHeard is how long an agent that lives in a tree without presence files counts as there after each sign of it.
const bridgeHeard = 2 * parley.PresenceInterval

// BridgeAt is the hub as a bridge uses it.
func (h *Hub) BridgeAt(caller Caller) parley.BridgeHub { return bridgeDoor{h, caller} }

type bridgeDoor struct {
	hub    *Hub
	caller Caller
}

func (b bridgeDoor) Bridge(ctx context.Context, id string) (view parley.BridgeView, err error) {
	err = b.hub.view(ctx, b.caller, opShowBridge, func(s *scene) error {
		if view, err = s.bridge(id); err == nil {
			view.Elsewhere, err = s.elsewhere(view.Bridge)
		}
		return err
	})
	return view, err
}

func (b bridgeDoor) Who(ctx context.Context) ([]parley.Presence, error) {
	return b.hub.Who(ctx, b.caller)
}

func (b bridgeDoor) NoteBridge(ctx context.Context, id string, status parley.BridgeStatus) error {
	view, err := b.Bridge(ctx, id)
	if err != nil {
		return err
	}
	b.hub.bridges.note(id, status)
	if view.Reached || !status.Running || status.ScannedAt == nil {
		return nil
	}
	return b.reached(ctx, id)
}

// reached keeps that a bridge has been at its tree.
func (b bridgeDoor) reached(ctx context.Context, id string) error {
	return b.hub.write(ctx, b.caller, opNoteBridge, func(s *scene) error {
		view, err := s.bridge(id)
		if err != nil || view.Paused {
			return err
		}
		view.Reached = true
		return s.Bridges().Put(view.Bridge)
	})
}

func (b bridgeDoor) Beat(ctx context.Context, id string, beats []parley.Beat) error {
	return b.hub.view(ctx, b.caller, opBeat, func(s *scene) error {
		view, err := s.bridge(id)
		if err != nil {
			return err
		}
		for _, sign := range beats {
			a, lives, err := s.livesIn(view.Bridge, sign.Agent)
			if err != nil {
				return err
			}
			if lives {
				s.beat(a.ID, sign)
			}
		}
		return nil
	})
}

// beat notes what a presence file says. One from the future counts from now on.
func (s *scene) beat(id string, beat parley.Beat) {
	if beat.State == parley.Offline {
		s.hub.attendance.left(id, s.now)
		return
	}
	at := beat.At
	if at.After(s.now) {
		at = s.now
	}
	s.hub.attendance.heardFor(id, at, beat.Lasts())
	s.hub.attendance.works(id, beat.Substate == parley.Working)
}

// livesIn finds an agent that may speak through a bridge and lives in its tree.
func (s *scene) livesIn(b parley.Bridge, id string) (a parley.Agent, lives bool, err error) {
	if !b.Speaks(id) {
		return a, false, nil
	}
	a, err = s.Agents().Find(id)
	return a, err == nil && a.Runtime == parley.RuntimeBridge && a.RemovedAt == nil, ignoreNotFound(err)
}

// signOf notes that an agent that lives in a tree has written or taken a file there. Where there are presence files, these
// say whether it is there.
func (s *scene) signOf(b parley.Bridge, a parley.Agent, at time.Time) {
	if b.Layout != parley.LayoutAgentOS && a.Runtime == parley.RuntimeBridge && !at.After(s.now) {
		s.hub.attendance.heardFor(a.ID, at, bridgeHeard)
	}
}

// bridgeEvents is how many events are looked at for tasks that have changed.
const bridgeEvents = 1000

func (b bridgeDoor) BridgeTasks(ctx context.Context, id string, after int64) (found parley.BridgeTasks, err error) {
	err = b.hub.view(ctx, b.caller, opListBridgeTasks, func(s *scene) error {
		view, err := s.bridge(id)
		if err != nil {
			return err
		}
		oldest, newest, err := s.Log().Bounds()
		if err != nil {
			return err
		}
		if view.Layout == parley.LayoutAgentOS {
			found, err = s.failedRuns(view.Bridge, after, oldest, newest)
			return err
		}
		if found.UpTo = newest; after <= 0 || after < oldest-1 { // some events are gone
			found.Tasks, err = s.allTasks()
		} else {
			found, err = s.tasksSince(after, newest)
		}
		found.Tasks = slices.DeleteFunc(found.Tasks, func(t parley.Task) bool { return !takesPart(view.Bridge, t) })
		return err
	})
	return found, err
}

// takesPart says whether somebody of a tree has asked for a task, or is to do it.
func takesPart(b parley.Bridge, t parley.Task) bool {
	return b.Speaks(t.Requester) || b.Speaks(t.Assignee) || b.QueueAgent != "" && t.Assignee == b.QueueAgent
}

func (s *scene) allTasks() (all []parley.Task, err error) {
	for after := ""; ; after = all[len(all)-1].ID {
		page, err := s.Tasks().Scan(after, bridgeEvents)
		if all = append(all, page...); err != nil || len(page) == 0 {
			return all, err
		}
	}
}

// tasksSince are the tasks that some events are about.
func (s *scene) tasksSince(after, newest int64) (found parley.BridgeTasks, err error) {
	events, found, err := s.eventsSince(after, newest)
	if err != nil {
		return found, err
	}
	var ids []string
	for _, e := range events {
		var about struct{ Task string }
		if e.Kind.Within("task") && json.Unmarshal(e.Data, &about) == nil {
			ids = append(ids, about.Task)
		}
	}
	found.Tasks, err = s.Tasks().GetAll(ids)
	return found, err
}

// eventsSince are the next events after a number, and how far they reach.
func (s *scene) eventsSince(after, newest int64) (events []parley.Event, found parley.BridgeTasks, err error) {
	events, err = s.Log().Events(after, bridgeEvents)
	found.UpTo = max(after, newest)
	if found.More = len(events) == bridgeEvents; found.More {
		found.UpTo = events[len(events)-1].Num
	}
	return events, found, err
}

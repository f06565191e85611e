package bridges

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// BridgeAt returns the interface of the hub that a bridge uses.
func (s *Service) BridgeAt(caller unit.Caller) parley.BridgeHub { return bridgeAPI{s, caller} }

type bridgeAPI struct {
	hub    *Service
	caller unit.Caller
}

func (b bridgeAPI) Bridge(ctx context.Context, id string) (view parley.BridgeView, err error) {
	err = b.hub.View(ctx, b.caller, unit.OpShowBridge, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return err
		}
		view = trees.ViewBridge(u, bridge)
		view.Elsewhere, err = trees.AgentsInOtherTrees(u, bridge)
		return err
	})
	return view, err
}

// find returns a bridge without its state. E003 if there is none.
func (b bridgeAPI) find(ctx context.Context, id string) (found parley.Bridge, err error) {
	err = b.hub.View(ctx, b.caller, unit.OpShowBridge, func(u *unit.Unit) (err error) {
		found, err = trees.Bridge(u, id)
		return err
	})
	return found, err
}

func (b bridgeAPI) Who(ctx context.Context) ([]parley.Presence, error) {
	return b.hub.roster.Who(ctx, b.caller)
}

func (b bridgeAPI) NoteBridge(ctx context.Context, id string, status parley.BridgeStatus) error {
	bridge, err := b.find(ctx, id)
	if err != nil {
		return err
	}
	b.hub.BridgeStates.Note(id, status)
	if bridge.Reached || !status.Running || status.ScannedAt == nil {
		return nil
	}
	return b.markReached(ctx, id)
}

// markReached records that a bridge has scanned its tree.
func (b bridgeAPI) markReached(ctx context.Context, id string) error {
	return b.hub.Write(ctx, b.caller, unit.OpNoteBridge, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if err != nil || bridge.Paused {
			return err
		}
		bridge.Reached = true
		return u.Bridges().Put(bridge)
	})
}

func (b bridgeAPI) Beat(ctx context.Context, id string, beats []parley.Beat) error {
	return b.hub.View(ctx, b.caller, unit.OpBeat, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return err
		}
		for _, sign := range beats {
			a, lives, err := trees.LivesIn(u, bridge, sign.Agent)
			if err != nil {
				return err
			}
			if lives {
				noteBeat(u, a.ID, sign)
			}
		}
		return nil
	})
}

// noteBeat records what a presence file says. A time in the future counts as now.
func noteBeat(u *unit.Unit, id string, beat parley.Beat) {
	if beat.State == parley.Offline {
		u.Core.Attendance.Left(id, u.Now)
		return
	}
	at := beat.At
	if at.After(u.Now) {
		at = u.Now
	}
	u.Core.Attendance.HeardFor(id, at, beat.PresentFor())
	u.Core.Attendance.SetWorking(id, beat.Substate == parley.Working)
}

// eventsPerPage is how many events are looked at for tasks that have changed.
const eventsPerPage = 1000

func (b bridgeAPI) BridgeTasks(ctx context.Context, id string, after int64) (found parley.BridgeTasks, err error) {
	err = b.hub.View(ctx, b.caller, unit.OpListBridgeTasks, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return err
		}
		oldest, newest, err := u.Log().Bounds()
		if err != nil {
			return err
		}
		if bridge.Layout == parley.LayoutAgentOS {
			found, err = failedRuns(u, bridge, after, oldest, newest)
			return err
		}
		if found.UpTo = newest; after <= 0 || after < oldest-1 { // some events are gone
			found.Tasks, err = allTasks(u)
		} else {
			found, err = tasksSince(u, after, newest)
		}
		found.Tasks = slices.DeleteFunc(found.Tasks, func(t parley.Task) bool { return !concernsTree(bridge, t) })
		return err
	})
	return found, err
}

// concernsTree reports whether an agent of a tree requested a task or is assigned to it.
func concernsTree(b parley.Bridge, t parley.Task) bool {
	return b.HasAgent(t.Requester) || b.HasAgent(t.Assignee) || b.QueueAgent != "" && t.Assignee == b.QueueAgent
}

func allTasks(u *unit.Unit) (all []parley.Task, err error) {
	for after := ""; ; after = all[len(all)-1].ID {
		page, err := u.Tasks().Scan(after, eventsPerPage)
		if all = append(all, page...); err != nil || len(page) == 0 {
			return all, err
		}
	}
}

// tasksSince returns the tasks that the events after a number are about.
func tasksSince(u *unit.Unit, after, newest int64) (found parley.BridgeTasks, err error) {
	events, found, err := eventsSince(u, after, newest)
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
	found.Tasks, err = u.Tasks().GetAll(ids)
	return found, err
}

// eventsSince returns the next events after a number, and how far they reach.
func eventsSince(u *unit.Unit, after, newest int64) (events []parley.Event, found parley.BridgeTasks, err error) {
	events, err = u.Log().Events(after, eventsPerPage)
	found.UpTo = max(after, newest)
	if found.More = len(events) == eventsPerPage; found.More {
		found.UpTo = events[len(events)-1].Num
	}
	return events, found, err
}

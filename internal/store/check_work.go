package store

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func (c *checker) tasks() error {
	after := ""
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Tasks().Scan(after, limit)
		if err != nil || len(list) == 0 {
			return false, err
		}
		after = list[len(list)-1].ID
		above, err := parentsOf(tx, list)
		for _, t := range list {
			c.task(t, above)
		}
		return true, err
	})
}

// parentsOf returns the parents of tasks, by their ids.
func parentsOf(tx storage.Tx, list []parley.Task) (map[string]parley.Task, error) {
	var ids []string
	for _, t := range list {
		ids = append(ids, t.Parent)
	}
	found, err := tx.Tasks().GetAll(ids)
	above := map[string]parley.Task{}
	for _, t := range found {
		above[t.ID] = t
	}
	return above, err
}

func (c *checker) task(t parley.Task, above map[string]parley.Task) {
	if !t.Status.Known() || t.Status.Ended() != (t.EndedAt != nil) {
		c.report.Add("%s is %q, which does not agree with when it ended", t.ID, t.Status)
	}
	if c.unreadable["task"+t.Parent] {
		return // without the parent, the place of the task is unknown
	}
	root, depth := t.ID, 0
	if parent, under := above[t.Parent]; under {
		root, depth = parent.Root, parent.Depth+1
	}
	if t.Root != root || t.Depth != depth {
		c.report.Add("%s is stored with depth %d under %s, but has depth %d under %s", t.ID, t.Depth, t.Root, depth, root)
	}
}

// decidedStates are the states that follow from a decision.
var decidedStates = []parley.ApprovalState{parley.ApprovalApproved, parley.ApprovalExecuted, parley.ApprovalDenied}

func (c *checker) approvals() error {
	before := ""
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Approvals().List(parley.ApprovalFilter{Before: before, Limit: limit}, "", false)
		for _, a := range list {
			open := a.State == parley.ApprovalPending && a.DecidedAt != nil
			if !a.State.Known() || open || slices.Contains(decidedStates, a.State) && a.DecidedAt == nil {
				c.report.Add("approval %s is %q, which does not agree with when it was decided", a.ID, a.State)
			}
			before = a.ID
		}
		return len(list) > 0, err
	})
}

func (c *checker) notes() error {
	after := ""
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Notes().Scan(after, limit)
		for _, n := range list {
			if n.Damage != nil {
				c.report.Add("%s", n.Damage.Message)
			}
			after = n.ID
		}
		return len(list) > 0, err
	})
}

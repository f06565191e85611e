package hub

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// circleOfWork is whom an event about a task or an approval is for. Its data names it; one that names nothing is
// for owners alone.
func circleOfWork(e parley.Event) circle {
	var about struct{ Task, Approval string }
	if json.Unmarshal(e.Data, &about) != nil {
		return circle{}
	}
	if e.Kind.Within("task") {
		return circle{task: about.Task}
	}
	return circle{approval: about.Approval}
}

// concernedIn are those whom a circle of a task or an approval is made of, beside owners.
func concernedIn(tx parley.Tx, c circle) ([]string, error) {
	if c.task != "" {
		return concernedInTask(tx, c.task)
	}
	a, err := tx.Approvals().Get(c.approval)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	return []string{a.Agent, a.Decider}, err
}

// concernedInTask are those who may see a task: who asked for it or for one above it, or is to do one of these.
func concernedInTask(tx parley.Tx, id string) (list []string, err error) {
	for id != "" {
		found, err := tx.Tasks().GetAll([]string{id})
		if err != nil || len(found) == 0 {
			return list, err
		}
		for _, agent := range []string{found[0].Requester, found[0].Assignee} {
			if !slices.Contains(list, agent) {
				list = append(list, agent)
			}
		}
		id = found[0].Parent
	}
	return list, nil
}

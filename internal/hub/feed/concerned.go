package feed

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// circleOfWork is whom an event about a task or an approval is for. Its data names it; one that names nothing is
// for owners alone.
func circleOfWork(e parley.Event) unit.Circle {
	var about struct{ Task, Approval string }
	if json.Unmarshal(e.Data, &about) != nil {
		return unit.Circle{}
	}
	if e.Kind.Within("task") {
		return unit.Circle{Task: about.Task}
	}
	return unit.Circle{Approval: about.Approval}
}

// concernedIn are those whom a circle of a task or an approval is made of, beside owners.
func concernedIn(tx storage.Tx, c unit.Circle) ([]string, error) {
	if c.Task != "" {
		return concernedInTask(tx, c.Task)
	}
	a, err := tx.Approvals().Get(c.Approval)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	return []string{a.Agent, a.Decider}, err
}

// concernedInTask are those who may see a task: who asked for it or for one above it, or is to do one of these.
func concernedInTask(tx storage.Tx, id string) (list []string, err error) {
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

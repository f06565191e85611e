package tasks

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// subtree is the tasks under one task, with the usage of the runs of each.
type subtree struct {
	children map[string][]parley.Task // by parent, in the order of their numbers
	spent    map[string]parley.Usage
}

// FindSubtree finds the tasks under a task.
func FindSubtree(u *unit.Unit, id string) (subtree, error) {
	g := subtree{children: map[string][]parley.Task{}}
	list, err := u.Tasks().Tree(id)
	for _, t := range list {
		if t.ID != id {
			g.children[t.Parent] = append(g.children[t.Parent], t)
		}
	}
	return g, err
}

// Under returns the tasks under a task, each after its parent, in the order of their numbers.
func (g subtree) Under(id string) (list []parley.Task) {
	for _, t := range g.children[id] {
		list = append(list, t)
		list = append(list, g.Under(t.ID)...)
	}
	return list
}

// used returns the usage of the runs of a task and of all tasks under it.
func (g subtree) used(id string) parley.Usage {
	sum := g.spent[id]
	for _, t := range g.children[id] {
		sum = sum.Plus(g.used(t.ID))
	}
	return sum
}

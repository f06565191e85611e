package tasks

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// subtree is the tasks under one, and what their runs and its own have used.
type subtree struct {
	children map[string][]parley.Task // by their parent, by their numbers
	spent    map[string]parley.Usage
}

// FindSubtree finds the tasks under one.
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

// Under are the tasks under one, each after its parent, by their numbers.
func (g subtree) Under(id string) (list []parley.Task) {
	for _, t := range g.children[id] {
		list = append(list, t)
		list = append(list, g.Under(t.ID)...)
	}
	return list
}

// used is what the runs of a task and of all under it have used.
func (g subtree) used(id string) parley.Usage {
	sum := g.spent[id]
	for _, t := range g.children[id] {
		sum = sum.Plus(g.used(t.ID))
	}
	return sum
}

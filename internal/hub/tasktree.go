package hub

import "github.com/parley-hub/parley"

// grove is the tasks under one, and what their runs and its own have used.
type grove struct {
	children map[string][]parley.Task // by their parent, by their numbers
	spent    map[string]parley.Usage
}

// grove finds the tasks under one.
func (s *scene) grove(id string) (grove, error) {
	g := grove{children: map[string][]parley.Task{}}
	list, err := s.Tasks().Tree(id)
	for _, t := range list {
		if t.ID != id {
			g.children[t.Parent] = append(g.children[t.Parent], t)
		}
	}
	return g, err
}

// under are the tasks under one, each after its parent, by their numbers.
func (g grove) under(id string) (list []parley.Task) {
	for _, t := range g.children[id] {
		list = append(list, t)
		list = append(list, g.under(t.ID)...)
	}
	return list
}

// used is what the runs of a task and of all under it have used.
func (g grove) used(id string) parley.Usage {
	sum := g.spent[id]
	for _, t := range g.children[id] {
		sum = sum.Plus(g.used(t.ID))
	}
	return sum
}

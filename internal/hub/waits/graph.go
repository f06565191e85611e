package waits

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Vertex is what a wait can block: a run, or, without a run, the session of an agent that polls.
type Vertex struct{ agent, run string }

// Single reports whether an agent is a webhook that takes one call at a time. A polling agent does one thing at a time too, but is not
// Single: see OnlyVertices.
func Single(a parley.Agent) bool { return a.Runtime == parley.RuntimeWebhook && a.Concurrency == 1 }

// MayWait returns E005 if the caller's wait for an answer would close a cycle, in which every vertex waits for another. There
// is no cycle if the target can begin another run, because it answers in that run.
func MayWait(u *unit.Unit, o unit.Origin, target parley.Agent, message string) error {
	if o.Approved != nil || u.Me.Kind != parley.KindAgent {
		return nil // nothing is blocked: an approved call returned already, and a person can do two things at once
	}
	answerers, err := Answerers(u, target, message)
	if err != nil || len(answerers) == 0 {
		return err
	}
	c := WaitGraph{Unit: u, Seen: map[Vertex]bool{}}
	if c.Callers, err = callers(u, o); err != nil {
		return err
	}
	for _, n := range answerers {
		path, err := c.From(n)
		if err != nil {
			return err
		}
		if path == nil {
			continue
		}
		if path[0] != target.ID { // the target waits for the first vertex
			path = slices.Insert(path, 0, target.ID)
		}
		return cycleError(u, append(path, target.ID))
	}
	return nil
}

// cycleError returns the error for a cycle, which names the agents in it.
func cycleError(u *unit.Unit, ids []string) error {
	names := make([]string, len(ids))
	for i, id := range ids {
		a, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		names[i] = a.Name
	}
	return parley.Errorf(parley.DependencyFailed, "Waiting for %s would create a deadlock: %s. Use 'delegate' for async processing.",
		names[0], strings.Join(names, " → "))
}

// WaitGraph searches for a path from a vertex to a caller, along the waits.
type WaitGraph struct {
	*unit.Unit
	Callers map[Vertex]bool
	Seen    map[Vertex]bool
}

// From returns the agents on the path from a vertex to the caller, both included. It returns nil if there is no path.
func (c *WaitGraph) From(n Vertex) ([]string, error) {
	if c.Callers[n] {
		return []string{n.agent}, nil
	}
	if c.Seen[n] {
		return nil, nil
	}
	c.Seen[n] = true
	waits, err := WaitsOf(c.Unit, n)
	if err != nil {
		return nil, err
	}
	for _, w := range waits {
		target, err := c.Agents().Find(w.Target)
		if err != nil {
			return nil, err
		}
		next, err := Answerers(c.Unit, target, w.Message)
		if err != nil {
			return nil, err
		}
		for _, other := range next {
			if path, err := c.From(other); err != nil || path != nil {
				return append([]string{n.agent}, path...), err
			}
		}
	}
	return nil, nil
}

// WaitsOf returns the waits that block a vertex.
func WaitsOf(u *unit.Unit, n Vertex) (blocking []parley.Wait, err error) {
	var list []parley.Wait
	if n.run != "" {
		list, err = u.Waits().OfRun(n.run)
	} else {
		list, err = u.Waits().OfWaiter(n.agent)
	}
	for _, w := range list {
		if w.Node != "" {
			blocking = append(blocking, w)
		}
	}
	return blocking, err
}

// callers returns the vertices that a caller may be. A caller that names no run may be any of its runs that answer an ask.
func callers(u *unit.Unit, o unit.Origin) (map[Vertex]bool, error) {
	if o.Run != nil {
		return map[Vertex]bool{{u.Me.ID, o.Run.ID}: true}, nil
	}
	all := map[Vertex]bool{{u.Me.ID, ""}: true}
	live, err := u.Runs().Live(u.Me.ID)
	for _, r := range live {
		if r.Depth > 0 {
			all[Vertex{r.Agent, r.ID}] = true
		}
	}
	return all, err
}

// Answerers returns the vertices that must be free before a message can be answered. It returns none if the message begins a
// run of its own, or if a person answers. An empty id stands for a message that is not sent yet.
func Answerers(u *unit.Unit, target parley.Agent, message string) ([]Vertex, error) {
	vertices, err := recipients(u, target, message)
	if err != nil || message == "" {
		return vertices, err
	}
	t, found, err := workFor(u, message)
	if err != nil || !found {
		return vertices, err
	}
	workers, err := Workers(u, t)
	return append(vertices, workers...), err
}

// workFor returns the task that a message began or that answers it, and whether there is one.
func workFor(u *unit.Unit, message string) (t parley.Task, found bool, err error) {
	w, err := u.Waits().Ask(message)
	if unit.IgnoreNotFound(err) != nil {
		return t, false, err
	}
	if w.AnswerTask != "" {
		t, err = u.Tasks().Get(w.AnswerTask)
	} else {
		t, err = u.Tasks().BegunBy(message)
	}
	return t, err == nil, unit.IgnoreNotFound(err)
}

// Workers returns the vertices that work on a task and on all tasks that it waits for: those under it, and those it depends on.
func Workers(u *unit.Unit, t parley.Task) (vertices []Vertex, err error) {
	known := map[string]bool{t.ID: true}
	for queue := []parley.Task{t}; len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if t.Status.Ended() {
			continue
		}
		here, err := workersAt(u, t)
		if err != nil {
			return nil, err
		}
		vertices = append(vertices, here...)
		next, err := tasks.WaitedFor(u, t)
		if err != nil {
			return nil, err
		}
		for _, other := range next {
			if !known[other.ID] {
				known[other.ID] = true
				queue = append(queue, other)
			}
		}
	}
	return vertices, nil
}

// workersAt returns the vertices that must be free before a task can go on: its runs, and the only vertices of its assignee and of
// its pending approvers, if these do one thing at a time.
func workersAt(u *unit.Unit, t parley.Task) (vertices []Vertex, err error) {
	pending, err := u.Approvals().InTask(t.ID)
	if err != nil {
		return nil, err
	}
	busy := []string{t.Assignee}
	for _, a := range pending {
		if a.State == parley.ApprovalPending && a.Decider != "" {
			busy = append(busy, a.Decider)
		}
	}
	for _, id := range busy {
		waiter, err := u.Agents().Find(id)
		if err != nil {
			return nil, err
		}
		only, err := OnlyVertices(u, waiter)
		if err != nil {
			return nil, err
		}
		vertices = append(vertices, only...)
	}
	runs, err := u.Runs().InTask(t.ID)
	for _, r := range runs {
		vertices = append(vertices, Vertex{r.Agent, r.ID})
	}
	return vertices, err
}

// OnlyVertices returns the vertices of an agent that does one thing at a time: its session, or the runs of a webhook that takes
// one call at a time. It returns none for other agents, because they begin another run.
func OnlyVertices(u *unit.Unit, a parley.Agent) ([]Vertex, error) {
	switch {
	case a.Kind != parley.KindAgent || a.RemovedAt != nil:
		return nil, nil
	case !a.Dispatched():
		return []Vertex{{a.ID, ""}}, nil
	case Single(a):
		return liveVertices(u, a.ID, func(parley.Run) bool { return true })
	default:
		return nil, nil
	}
}

// recipients returns the vertices of which one must be free before the recipient gets a message.
func recipients(u *unit.Unit, target parley.Agent, message string) ([]Vertex, error) {
	if only, err := OnlyVertices(u, target); err != nil || len(only) > 0 {
		return only, err
	}
	if message == "" || !target.Dispatched() || Single(target) {
		return nil, nil
	}
	d, err := u.Deliveries().Get(message, target.ID)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !d.Open() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r, live, err := runs.RunOf(u, d); err != nil || live {
		return []Vertex{{r.Agent, r.ID}}, err
	}
	if d.Purpose != "" {
		return nil, nil
	}
	return liveVertices(u, target.ID, func(r parley.Run) bool { return !r.Ask && r.Conversation == d.Conversation })
}

// liveVertices returns the vertices of an agent's live runs that match.
func liveVertices(u *unit.Unit, agent string, match func(parley.Run) bool) (vertices []Vertex, err error) {
	live, err := u.Runs().Live(agent)
	for _, r := range live {
		if match(r) {
			vertices = append(vertices, Vertex{r.Agent, r.ID})
		}
	}
	return vertices, err
}

package hub

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// node is what can be blocked: a run, or without one the session of an agent that fetches for itself.
type node struct{ agent, run string }

// single says that an agent cannot do two things at once: a webhook that takes one call at a time.
func single(a parley.Agent) bool { return a.Runtime == parley.RuntimeWebhook && a.Concurrency == 1 }

// mayWait refuses a wait of the caller for an answer that would close a circle, in which everybody waits for
// somebody else. That is so only where the target cannot begin another run: else it answers in that.
func (s *scene) mayWait(o origin, target parley.Agent, message string) error {
	if o.approved != nil || s.me.Kind != parley.KindAgent {
		return nil // nobody is blocked: who called goes on, and a person can do two things at once
	}
	answerers, err := s.answerers(target, message)
	if err != nil || len(answerers) == 0 {
		return err
	}
	c := waitGraph{scene: s, seen: map[node]bool{}}
	if c.callers, err = s.callers(o); err != nil {
		return err
	}
	for _, n := range answerers {
		path, err := c.from(n)
		if err != nil {
			return err
		}
		if path == nil {
			continue
		}
		if path[0] != target.ID { // it waits for that in turn
			path = slices.Insert(path, 0, target.ID)
		}
		return s.closed(append(path, target.ID))
	}
	return nil
}

// closed is the refusal, with the circle in it.
func (s *scene) closed(ids []string) error {
	names := make([]string, len(ids))
	for i, id := range ids {
		a, err := s.Agents().Find(id)
		if err != nil {
			return err
		}
		names[i] = a.Name
	}
	return parley.Errorf(parley.DependencyFailed, "Waiting for %s would close a circle in which everybody waits: %s. Use 'delegate' for async processing.",
		names[0], strings.Join(names, " → "))
}

// waitGraph looks for a way from somebody to a caller, along who waits for whom.
type waitGraph struct {
	*scene
	callers map[node]bool
	seen    map[node]bool
}

// from is the agents on the way from a node to the caller, both of them included, or nil if there is none.
func (c *waitGraph) from(n node) ([]string, error) {
	if c.callers[n] {
		return []string{n.agent}, nil
	}
	if c.seen[n] {
		return nil, nil
	}
	c.seen[n] = true
	waits, err := c.waitsOf(n)
	if err != nil {
		return nil, err
	}
	for _, w := range waits {
		target, err := c.Agents().Find(w.Target)
		if err != nil {
			return nil, err
		}
		next, err := c.answerers(target, w.Message)
		if err != nil {
			return nil, err
		}
		for _, other := range next {
			if path, err := c.from(other); err != nil || path != nil {
				return append([]string{n.agent}, path...), err
			}
		}
	}
	return nil, nil
}

// waitsOf is what blocks a node.
func (s *scene) waitsOf(n node) (blocking []parley.Wait, err error) {
	var list []parley.Wait
	if n.run != "" {
		list, err = s.Waits().Of(n.run)
	} else {
		list, err = s.Waits().By(n.agent)
	}
	for _, w := range list {
		if w.Node != "" {
			blocking = append(blocking, w)
		}
	}
	return blocking, err
}

// callers are the nodes that a caller may be. One that names no run may be any of its runs that answer somebody.
func (s *scene) callers(o origin) (map[node]bool, error) {
	if o.run != nil {
		return map[node]bool{{s.me.ID, o.run.ID}: true}, nil
	}
	all := map[node]bool{{s.me.ID, ""}: true}
	live, err := s.Runs().Live(s.me.ID)
	for _, r := range live {
		if r.Depth > 0 {
			all[node{r.Agent, r.ID}] = true
		}
	}
	return all, err
}

// answerers are the nodes that have to be free for a message to be answered. None where that begins a run of its own,
// and where a person answers. Without a message it is one that is to be sent.
func (s *scene) answerers(target parley.Agent, message string) ([]node, error) {
	nodes, err := s.recipients(target, message)
	if err != nil || message == "" {
		return nodes, err
	}
	t, found, err := s.workFor(message)
	if err != nil || !found {
		return nodes, err
	}
	workers, err := s.workers(t)
	return append(nodes, workers...), err
}

// workFor is the task that a message has begun, or that answers it, if there is one.
func (s *scene) workFor(message string) (t parley.Task, found bool, err error) {
	w, err := s.Waits().Ask(message)
	if ignoreNotFound(err) != nil {
		return t, false, err
	}
	if w.Work != "" {
		t, err = s.Tasks().Get(w.Work)
	} else {
		t, err = s.Tasks().Begun(message)
	}
	return t, err == nil, ignoreNotFound(err)
}

// workers are the nodes at a task, and at all that it waits for: what is under it, and what it depends on.
func (s *scene) workers(t parley.Task) (nodes []node, err error) {
	known := map[string]bool{t.ID: true}
	for queue := []parley.Task{t}; len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if t.Status.Ended() {
			continue
		}
		here, err := s.workersAt(t)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, here...)
		next, err := s.waitedFor(t)
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
	return nodes, nil
}

// workersAt are the nodes that must be free for a task to go on: its runs, and the only nodes of its assignee and of its
// pending approvers, if these do one thing at a time.
func (s *scene) workersAt(t parley.Task) (nodes []node, err error) {
	pending, err := s.Approvals().InTask(t.ID)
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
		who, err := s.Agents().Find(id)
		if err != nil {
			return nil, err
		}
		only, err := s.onlyNodes(who)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, only...)
	}
	runs, err := s.Runs().InTask(t.ID)
	for _, r := range runs {
		nodes = append(nodes, node{r.Agent, r.ID})
	}
	return nodes, err
}

// onlyNodes are the nodes of an agent that does one thing at a time: its session, or the runs of a webhook that takes one
// call at a time. Other agents have none, because they begin another run.
func (s *scene) onlyNodes(a parley.Agent) ([]node, error) {
	switch {
	case a.Kind != parley.KindAgent || a.RemovedAt != nil:
		return nil, nil
	case !a.Dispatched():
		return []node{{a.ID, ""}}, nil
	case single(a):
		return s.liveNodes(a.ID, func(parley.Run) bool { return true })
	default:
		return nil, nil
	}
}

// recipients are the nodes of which one has to be free for its recipient to get a message.
func (s *scene) recipients(target parley.Agent, message string) ([]node, error) {
	if only, err := s.onlyNodes(target); err != nil || len(only) > 0 {
		return only, err
	}
	if message == "" || !target.Dispatched() || single(target) {
		return nil, nil
	}
	d, err := s.Deliveries().Get(message, target.ID)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !d.Open() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r, runs, err := s.runOf(d); err != nil || runs {
		return []node{{r.Agent, r.ID}}, err
	}
	if d.Purpose != "" {
		return nil, nil
	}
	return s.liveNodes(target.ID, func(r parley.Run) bool { return !r.Ask && r.Conversation == d.Conversation })
}

// liveNodes are the live runs of an agent that match.
func (s *scene) liveNodes(agent string, match func(parley.Run) bool) (nodes []node, err error) {
	live, err := s.Runs().Live(agent)
	for _, r := range live {
		if match(r) {
			nodes = append(nodes, node{r.Agent, r.ID})
		}
	}
	return nodes, err
}

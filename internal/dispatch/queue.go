package dispatch

// queue holds the agents that may have pending work, each once, in the order of arrival. The dispatcher requests no second
// run for an agent before the hub has replied to the first request.
type queue struct {
	order []string
	in    map[string]place
}

// place is where an agent is in a queue.
type place int

const (
	queued place = iota + 1
	requested
	requestedAndChanged // in the meantime: there may be more than was seen
)

func newQueue() queue { return queue{in: map[string]place{}} }

func (q *queue) add(agents ...string) {
	for _, agent := range agents {
		switch q.in[agent] {
		case queued:
		case requested, requestedAndChanged:
			q.in[agent] = requestedAndChanged
		default:
			q.in[agent] = queued
			q.order = append(q.order, agent)
		}
	}
}

// next returns the agent to request a run for. ok is false if the queue is empty.
func (q *queue) next() (agent string, ok bool) {
	if len(q.order) == 0 {
		return "", false
	}
	agent, q.order = q.order[0], q.order[1:]
	q.in[agent] = requested
	return agent, true
}

// answered says that an agent was asked for, and whether there may be more.
func (q *queue) answered(agent string, more bool) {
	more = more || q.in[agent] == requestedAndChanged
	delete(q.in, agent)
	if more {
		q.add(agent)
	}
}

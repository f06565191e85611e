package dispatch

// queue holds the agents that may have pending work, each once, in the order of arrival. The dispatcher requests no second
// run for an agent before the hub has replied to the first request.
type queue struct {
	order  []string
	states map[string]queueState
}

// queueState says whether an agent waits in the queue, or whether the dispatcher has requested a run for it.
type queueState int

const (
	queued queueState = iota + 1
	requested
	requestedAndChanged // the agent has changed since the request, so the hub may have more work than its reply shows
)

func newQueue() queue { return queue{states: map[string]queueState{}} }

// add adds agents to the queue. It notes the change of an agent whose run is requested at present.

func (q *queue) add(agents ...string) {
	for _, agent := range agents {
		switch q.states[agent] {
		case queued:
		case requested, requestedAndChanged:
			q.states[agent] = requestedAndChanged
		default:
			q.states[agent] = queued
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
	q.states[agent] = requested
	return agent, true
}

// replied notes that the hub has replied to the request for an agent. It queues the agent again if more is set, or if the agent
// has changed since the request.
func (q *queue) replied(agent string, more bool) {
	more = more || q.states[agent] == requestedAndChanged
	delete(q.states, agent)
	if more {
		q.add(agent)
	}
}

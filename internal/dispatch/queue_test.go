package dispatch

import (
	"slices"
	"testing"
)

// drained takes all agents out of a queue, and returns them in order.
func drained(q *queue) (agents []string) {
	for {
		agent, ok := q.next()
		if !ok {
			return agents
		}
		agents = append(agents, agent)
		q.replied(agent, false)
	}
}

func TestAQueueHoldsEachAgentOnce(t *testing.T) {
	q := newQueue()
	q.add("arya", "bran", "arya")
	q.add("cersei", "bran")
	if got, want := drained(&q), []string{"arya", "bran", "cersei"}; !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
	if len(q.states) > 0 {
		t.Errorf("it remembers %v", q.states)
	}
}

func TestAnAgentHasOneRequestAtATime(t *testing.T) {
	for name, test := range map[string]struct {
		changed, more bool
		want          []string
	}{
		"nothing more":            {false, false, []string{"bran"}},
		"more":                    {false, true, []string{"bran", "arya"}},
		"changed in between":      {true, false, []string{"bran", "arya"}},
		"changed, and more of it": {true, true, []string{"bran", "arya"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue()
			q.add("arya", "bran")
			agent, _ := q.next()
			if test.changed {
				q.add(agent)
				q.add(agent)
			}
			if slices.Contains(q.order, agent) {
				t.Error("it waits while it is asked for")
			}
			q.replied(agent, test.more)
			if got := drained(&q); !slices.Equal(got, test.want) {
				t.Errorf("then come %q, want %q", got, test.want)
			}
		})
	}
}

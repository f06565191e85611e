package storetest

import (
	"cmp"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func (m *model) message(id string) int {
	return slices.IndexFunc(m.messages, func(o parley.Message) bool { return o.ID == id })
}

func (m *model) run(id string) int {
	return slices.IndexFunc(m.runs, func(o parley.Run) bool { return o.ID == id })
}

// someRun returns the n-th run, or one that does not exist if there are fewer.
func (m *model) someRun(n int) parley.Run {
	if n < len(m.runs) {
		return m.runs[n]
	}
	return newRun("nobody", newID())
}

func (m *model) addRun(r parley.Run) error {
	unknown := func(id string) bool {
		return m.message(id) < 0 || m.messages[m.message(id)].Conversation != r.Conversation
	}
	if m.agent(r.Agent) < 0 || m.conversation(r.Conversation) < 0 || slices.ContainsFunc(r.Triggers, unknown) {
		return parley.ErrNotFound
	}
	if m.run(r.ID) >= 0 {
		return parley.ErrTaken
	}
	r.Triggers = slices.SortedFunc(slices.Values(r.Triggers), func(a, b string) int { return cmp.Compare(m.message(a), m.message(b)) })
	r.Triggers = slices.Compact(r.Triggers)
	m.runs = append(m.runs, r)
	return nil
}

func (m *model) changeRun(r parley.Run) error {
	i := m.run(r.ID)
	if i < 0 {
		return parley.ErrNotFound
	}
	m.runs[i] = r
	return nil
}

func (m *model) posted(run string, p storage.RunPost) error {
	if m.run(run) < 0 || m.message(p.Message) < 0 {
		return parley.ErrNotFound
	}
	list := m.posts[run]
	if !slices.ContainsFunc(list, func(o storage.RunPost) bool { return o.Message == p.Message }) {
		m.posts[run] = slices.SortedFunc(slices.Values(append(slices.Clone(list), p)), func(a, b storage.RunPost) int {
			return cmp.Compare(m.message(a.Message), m.message(b.Message))
		})
	}
	return nil
}

func (m *model) putOutput(run, output string) error {
	if m.run(run) < 0 {
		return parley.ErrNotFound
	}
	m.outputs[run] = output
	return nil
}

// exchangeKey returns the key of the exchanges of two agents.
func exchangeKey(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

func (m *model) putExchange(e storage.Exchange) error {
	if m.agent(e.A) < 0 || m.agent(e.B) < 0 || m.conversation(e.Conversation) < 0 {
		return parley.ErrNotFound
	}
	m.exchanges[exchangeKey(e.A, e.B)] = e
	return nil
}

// deleteRuns changes runs and exchanges as deleting a conversation does. Call it before the model removes the messages.
func (m *model) deleteRuns(conversation string) {
	gone := func(message string) bool {
		i := m.message(message)
		return i < 0 || m.messages[i].Conversation == conversation
	}
	var kept []parley.Run
	for _, r := range m.runs {
		if r.Conversation == conversation {
			m.deletedRuns = append(m.deletedRuns, r)
			continue
		}
		m.posts[r.ID] = slices.DeleteFunc(slices.Clone(m.posts[r.ID]), func(p storage.RunPost) bool { return gone(p.Message) })
		kept = append(kept, r)
	}
	m.runs = kept
	for pair, e := range m.exchanges {
		if e.Conversation == conversation {
			e.Conversation = ""
			m.exchanges[pair] = e
		}
	}
}

func (m *model) spent(agent string) (spent parley.Spent) {
	for _, r := range slices.Concat(m.runs, m.deletedRuns) {
		if r.Agent == agent {
			spent.Runs++
			spent.Usage = spent.Plus(r.Usage)
		}
	}
	return spent
}

// fillRuns adds the runs of the model to a dump.
func (m *model) fillRuns(all *contents) {
	all.Posts, all.Outputs, all.Live = map[string][]storage.RunPost{}, map[string]string{}, map[string]int{}
	for _, r := range m.runs {
		all.Posts[r.ID], all.Outputs[r.ID] = m.posts[r.ID], m.outputs[r.ID]
		if r.State.Live() {
			all.Live[r.Agent]++
		}
	}
	all.Runs = slices.Clone(m.runs)
	slices.Reverse(all.Runs)
}

package storetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// waitSteps are the changes that an update can make to waits.
var waitSteps = map[string]func(*history, storage.Tx, *model, step) error{
	"wait": func(h *history, tx storage.Tx, m *model, s step) error {
		w := newWait(m.someMessage(s.A).ID, h.agentID(m, s.B), h.agentID(m, s.C))
		w.Ask, w.Conversation = s.C%2 == 0, m.someConversation(s.B).ID
		if s.B == 3 {
			w.ID = m.someWait(s.C).ID
		}
		return compareErrors(tx.Waits().Insert(w), m.addWait(w))
	},
	"change wait": func(h *history, tx storage.Tx, m *model, s step) error {
		w := m.someWait(s.A)
		w.State = []parley.WaitState{parley.WaitWaiting, parley.WaitLate, parley.WaitAnswered, parley.WaitAbandoned}[s.B]
		w.Run, w.Node = []string{"", m.someRun(s.C).ID}[s.C%2], h.node(s.B)
		return compareErrors(tx.Waits().Put(w), m.changeWait(w))
	},
	"erase wait": func(_ *history, tx storage.Tx, m *model, s step) error {
		w := m.someWait(s.A)
		return compareErrors(tx.Waits().Erase(w.ID), m.eraseWait(w.ID))
	},
	"look at waits": func(h *history, tx storage.Tx, m *model, _ step) error { return h.checkWaits(tx, m) },
}

// node returns the name of a hub process that no other history uses.
func (h *history) node(n int) string { return fmt.Sprintf("%s-node-%d", h.prefix, n) }

// checkWaits compares the edges of the wait graph, and the open asks, with the model.
func (h *history) checkWaits(tx storage.Tx, m *model) error {
	var errs []error
	check := func(what string, find func() ([]parley.Wait, error), which func(parley.Wait) bool) {
		got, err := find()
		want := slices.DeleteFunc(slices.Clone(m.waits), func(w parley.Wait) bool { return !which(w) })
		errs = append(errs, requireEqual(what, got, want, err))
	}
	blocked := func(w parley.Wait) bool { return w.State == parley.WaitWaiting }
	for _, a := range m.agents {
		check("by", func() ([]parley.Wait, error) { return tx.Waits().OfWaiter(a.ID) },
			func(w parley.Wait) bool { return blocked(w) && w.Waiter == a.ID && w.Run == "" })
		asked, err := tx.Queue().CountAsks(a.ID)
		errs = append(errs, requireEqual("asked", asked, m.countAsks(a.ID), err))
	}
	for _, r := range m.runs {
		check("of", func() ([]parley.Wait, error) { return tx.Waits().OfRun(r.ID) },
			func(w parley.Wait) bool { return blocked(w) && w.Run == r.ID })
	}
	for n := range 4 {
		check("at", func() ([]parley.Wait, error) { return tx.Waits().OfNode(h.node(n)) },
			func(w parley.Wait) bool { return blocked(w) && w.Node == h.node(n) })
	}
	return errors.Join(errs...)
}

func (m *model) wait(id string) int {
	return slices.IndexFunc(m.waits, func(w parley.Wait) bool { return w.ID == id })
}

// someWait returns the n-th wait, or one that does not exist if there are fewer.
func (m *model) someWait(n int) parley.Wait {
	if n < len(m.waits) {
		return m.waits[n]
	}
	return newWait(newID(), "nobody", "nobody")
}

func (m *model) addWait(w parley.Wait) error {
	if m.message(w.Message) < 0 || m.agent(w.Waiter) < 0 || m.agent(w.Target) < 0 {
		return parley.ErrNotFound
	}
	asked := func(o parley.Wait) bool { return w.Ask && o.Ask && o.Message == w.Message }
	if m.wait(w.ID) >= 0 || slices.ContainsFunc(m.waits, asked) {
		return parley.ErrTaken
	}
	if m.conversation(w.Conversation) < 0 {
		w.Conversation = ""
	}
	m.waits = append(m.waits, w)
	return nil
}

func (m *model) changeWait(w parley.Wait) error {
	i := m.wait(w.ID)
	if i < 0 {
		return parley.ErrNotFound
	}
	m.waits[i] = w
	return nil
}

func (m *model) eraseWait(id string) error {
	i := m.wait(id)
	if i < 0 {
		return parley.ErrNotFound
	}
	m.waits = slices.Delete(m.waits, i, i+1)
	return nil
}

// deleteWaits changes the waits as deleting a conversation does. Call it before the model removes the messages.
func (m *model) deleteWaits(conversation string) {
	m.waits = slices.DeleteFunc(m.waits, func(w parley.Wait) bool {
		return m.messages[m.message(w.Message)].Conversation == conversation
	})
	for i := range m.waits {
		if m.waits[i].Conversation == conversation {
			m.waits[i].Conversation = ""
		}
	}
}

func (m *model) countAsks(agent string) (n int) {
	for _, list := range m.deliveries {
		for _, d := range list {
			if d.Recipient == agent && d.Purpose == parley.PurposeAsk && d.Open() {
				n++
			}
		}
	}
	return n
}

// fillWaits adds the waits of the model to a dump.
func (m *model) fillWaits(all *contents) {
	all.Asks, all.Waits = map[string]parley.Wait{}, map[string][]parley.Wait{}
	for _, c := range m.conversations {
		all.Waits[c.ID] = nil
	}
	for _, w := range m.waits {
		if w.Ask {
			all.Asks[w.Message] = w
		}
		if !w.State.Ended() {
			where := m.messages[m.message(w.Message)].Conversation
			all.Waits[where] = append(all.Waits[where], w)
		}
	}
	for _, list := range all.Waits {
		slices.SortStableFunc(list, func(a, b parley.Wait) int { return m.message(a.Message) - m.message(b.Message) })
	}
}

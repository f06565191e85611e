package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// queueSteps are the changes that an update can make to deliveries. A, B and C select the delivery and the change.
var queueSteps = map[string]func(*history, storage.Tx, *model, step) error{
	"take": func(h *history, tx storage.Tx, m *model, s step) error {
		q := storage.QueueFilter{Recipient: h.agentID(m, s.A), Wakes: s.B > 0, Urgent: s.B == 2, Limit: s.C}
		list, err := tx.Queue().Ready(q)
		if m.agent(q.Recipient) < 0 {
			return compareErrors(err, parley.ErrNotFound)
		}
		if diff := gocmp.Diff(m.ready(q), list, cmpOptions...); err != nil || diff != "" {
			return fmt.Errorf("%w %s", err, diff)
		}
		for _, d := range list {
			if err := change(tx, m, d, leaseTo(h.lease(s.C), parley.Tick(10*s.B+1))); err != nil {
				return err
			}
		}
		return nil
	},
	"hold delivery": func(h *history, tx storage.Tx, m *model, s step) error {
		return change(tx, m, m.someDelivery(h, s), []func(*parley.Delivery){
			leaseTo(h.lease(s.A), 40), leaseTo("", 0), pause(50),
			func(d *parley.Delivery) { d.State, d.Lease, d.Until = parley.DeliverySeen, h.lease(s.B), 60 },
		}[s.C])
	},
	"end delivery": func(h *history, tx storage.Tx, m *model, s step) error {
		return change(tx, m, m.someDelivery(h, s), setState([]parley.DeliveryState{
			parley.DeliveryAcked, parley.DeliveryEvicted, parley.DeliveryDead, parley.DeliverySeen,
		}[s.C]))
	},
	"mark delivery": func(h *history, tx storage.Tx, m *model, s step) error {
		return change(tx, m, m.someDelivery(h, s), []func(*parley.Delivery){
			func(d *parley.Delivery) { d.Overdue = true },
			func(d *parley.Delivery) { d.Late = true },
			func(d *parley.Delivery) { d.Run, d.SeenAt = "run", atPointer(5) },
			setState(parley.DeliveryAccepted),
		}[s.C])
	},
	"look at the queues": func(h *history, tx storage.Tx, m *model, _ step) error { return h.checkQueues(tx, m) },
	"look at an inbox": func(h *history, tx storage.Tx, m *model, s step) error {
		agent := h.agentID(m, s.A)
		got, err := tx.Queue().Inbox(agent)
		if m.agent(agent) < 0 {
			return compareErrors(err, parley.ErrNotFound)
		}
		least, deleted := m.inbox(agent), m.deletedInboxes[agent]
		if err != nil || got.Waking < least.Waking || got.Waking > least.Waking+deleted.Waking ||
			got.Quiet < least.Quiet || got.Quiet > least.Quiet+deleted.Quiet || got.Evicted != least.Evicted {
			return fmt.Errorf("%+v, the model has %+v and %+v deleted: %w", got, least, deleted, err)
		}
		return nil
	},
	"remove agent": func(h *history, tx storage.Tx, m *model, s step) error {
		a := newAgent(h.id(s.A))
		if i := m.agent(a.ID); i >= 0 && m.agents[i].ID == a.ID {
			a = m.agents[i]
		}
		if a.RemovedAt, a.SleepingUntil = nil, nil; s.B > 0 {
			a.RemovedAt, a.SleepingUntil = atPointer(s.B), atPointer(s.C)
		}
		return compareErrors(tx.Agents().Put(a), m.changeAgent(a))
	},
}

// change edits a delivery in the store and in the model, if the delivery exists.
func change(tx storage.Tx, m *model, before parley.Delivery, edit func(*parley.Delivery)) error {
	after := before
	edit(&after)
	if m.put(before, after) != nil {
		return nil
	}
	return tx.Deliveries().Put(before, after)
}

// lease returns one of a few leases.
func (h *history) lease(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", n) }

// checkQueues compares the results of all methods of the queue with the model.
func (h *history) checkQueues(tx storage.Tx, m *model) error {
	all := m.allDeliveries()
	keep := func(which func(parley.Delivery) bool) (kept []parley.Delivery) {
		for _, d := range all {
			if which(d) {
				kept = append(kept, d)
			}
		}
		return kept
	}
	far := at(1 << 20)
	errs := []error{
		h.requireSame("lapsed", keep(func(d parley.Delivery) bool { return d.Until > 0 && d.Until <= 40 }))(tx.Queue().Lapsed(40, noLimit)),
		h.requireSame("dead", keep(func(d parley.Delivery) bool { return d.State == parley.DeliveryDead }))(tx.Queue().Dead(0, noLimit)),
		h.requireSame("due", keep(func(d parley.Delivery) bool { return d.Next() != nil && !d.Next().After(far) }))(tx.Queue().Due(far, noLimit)),
	}
	for n := range 4 {
		mine := keep(func(d parley.Delivery) bool { return d.Lease == h.lease(n) })
		errs = append(errs, h.requireSame("leased", mine)(tx.Queue().Leased(h.lease(n))))
	}
	for _, a := range m.agents {
		errs = append(errs, h.checkRecipient(tx, m, a.ID))
	}
	return errors.Join(append(errs, h.checkOrphaned(tx, m), h.checkWaiting(tx, m), h.checkHolders(tx, m))...)
}

func (h *history) checkHolders(tx storage.Tx, m *model) error {
	got, err := tx.Queue().LeaseHolders()
	maps.DeleteFunc(got, func(id string, _ bool) bool { return !h.isOwn(id) })
	want := map[string]bool{}
	for _, d := range m.allDeliveries() {
		if d.Lease != "" && d.State != parley.DeliveryAccepted {
			want[d.Recipient] = true
		}
	}
	if err != nil || !maps.Equal(got, want) {
		return fmt.Errorf("leases are held by %v, want %v: %w", got, want, err)
	}
	return nil
}

func (h *history) checkWaiting(tx storage.Tx, m *model) error {
	got, err := tx.Queue().AgentsToWake(noLimit)
	got = slices.DeleteFunc(got, func(id string) bool { return !h.isOwn(id) })
	var want []string
	for _, a := range m.agents {
		if a.RemovedAt == nil && len(m.ready(storage.QueueFilter{Recipient: a.ID, Wakes: true, Limit: 1})) > 0 {
			want = append(want, a.ID)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("waiting are %v, want %v: %w", got, want, err)
	}
	return nil
}

func (h *history) checkRecipient(tx storage.Tx, m *model, id string) error {
	var errs []error
	for _, q := range []storage.QueueFilter{
		{Wakes: true},
		{Wakes: true, Urgent: true},
		{},
		{Wakes: true, Purpose: parley.PurposeAsk},
		{Wakes: true, Plain: true},
		{Wakes: true, NotIn: m.firstConversations()},
		{Wakes: true, Urgent: true, NotIn: m.firstConversations()},
	} {
		q.Recipient, q.Limit = id, noLimit
		errs = append(errs, h.requireSame("ready", m.ready(q))(tx.Queue().Ready(q)))
	}
	var held []parley.Delivery
	for _, d := range m.allDeliveries() {
		if d.Recipient == id && d.Open() && !d.Ready() {
			held = append(held, d)
		}
		got, err := tx.Deliveries().Get(d.Message, d.Recipient)
		errs = append(errs, h.requireSame("get", []parley.Delivery{d})([]parley.Delivery{got}, err))
	}
	errs = append(errs, h.requireSame("held", held)(tx.Queue().LeasedOrPaused(id, 0, noLimit)))
	for _, from := range m.agents {
		n, err := tx.Deliveries().PairSeq(from.ID, id)
		if want := m.pairs[[2]string{from.ID, id}]; err != nil || n != want {
			errs = append(errs, fmt.Errorf("the pair %s and %s is at %d, want %d: %w", from.ID, id, n, want, err))
		}
		errs = append(errs, h.checkBeat(tx, m, from.ID, id))
	}
	return errors.Join(errs...)
}

func (h *history) checkBeat(tx storage.Tx, m *model, from, to string) error {
	got, err := tx.Queue().Heartbeat(from, to)
	newest := m.heartbeats[[2]string{from, to}]
	i := slices.IndexFunc(m.deliveries[newest], func(d parley.Delivery) bool { return d.Recipient == to })
	if i < 0 {
		return compareErrors(err, parley.ErrNotFound)
	}
	return h.requireSame("heartbeat", m.deliveries[newest][i:i+1])([]parley.Delivery{got}, err)
}

func (h *history) checkOrphaned(tx storage.Tx, m *model) error {
	got, err := tx.Queue().Orphaned()
	got = slices.DeleteFunc(got, func(id string) bool { return !h.isOwn(id) })
	var want []string
	for _, a := range m.agents {
		open := func(d parley.Delivery) bool { return d.Recipient == a.ID && d.Open() }
		if a.RemovedAt != nil && slices.ContainsFunc(m.allDeliveries(), open) {
			want = append(want, a.ID)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("orphaned are %v, want %v: %w", got, want, err)
	}
	return nil
}

// requireSame returns a function that compares deliveries from the store with those of the model. It considers only deliveries of
// this history. It ignores the order of lists whose order also depends on other histories.
func (h *history) requireSame(what string, want []parley.Delivery) func([]parley.Delivery, error) error {
	return func(got []parley.Delivery, err error) error {
		got = slices.DeleteFunc(got, func(d parley.Delivery) bool { return !h.isOwn(d.Recipient) })
		if what != "ready" && what != "held" {
			byKey := func(a, b parley.Delivery) int {
				return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Recipient, b.Recipient))
			}
			want = slices.SortedFunc(slices.Values(want), byKey)
			slices.SortFunc(got, byKey)
		}
		if diff := gocmp.Diff(want, got, cmpOptions...); err != nil || diff != "" {
			return fmt.Errorf("%s: %w %s", what, err, diff)
		}
		return nil
	}
}

// isOwn reports whether an agent belongs to this history.
func (h *history) isOwn(id string) bool { return strings.HasPrefix(id, h.prefix+"-") }

// settleAll settles the deliveries of this history, so that later histories in the same store need not read them.
func (h *history) settleAll(tx storage.Tx) error {
	var errs []error
	for _, before := range h.model.allDeliveries() {
		after := before
		setState(parley.DeliveryAcked)(&after)
		errs = append(errs, tx.Deliveries().Put(before, after))
	}
	return errors.Join(errs...)
}

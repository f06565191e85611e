package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// inboxFixture is a store with a channel in which arya writes to gendry and sansa. Each delivery has a name for comparisons
// with the deliveries that the store returns.
type inboxFixture struct {
	*fixture
	channel    parley.Conversation
	names      map[string]string // message and recipient → name
	deliveries map[string]parley.Delivery
}

func newInboxFixture(f *fixture) *inboxFixture {
	f.Helper()
	f.agents("arya", "gendry", "sansa")
	return &inboxFixture{f, f.channel("general", "arya"), map[string]string{}, map[string]parley.Delivery{}}
}

// draft is a message from arya with its recipient. The default recipient is gendry.
type draft struct {
	to       parley.NewDelivery
	priority int // 0: the default
	edit     func(*parley.Message)
}

func (m *inboxFixture) write(name string, l draft) parley.Delivery {
	m.Helper()
	msg := newMessage(m.channel.ID, "arya", name)
	if l.priority > 0 {
		msg.Priority, _ = parley.PriorityOf(l.priority)
	}
	if l.edit != nil {
		l.edit(&msg)
	}
	if l.to.Agent == "" {
		l.to.Agent = "gendry"
	}
	var made []parley.Delivery
	m.update(func(tx storage.Tx) error {
		stored, err := post(tx, msg)
		if err == nil {
			made, err = tx.Deliveries().Insert(stored, []parley.NewDelivery{l.to})
		}
		return err
	})
	m.names[msg.ID+made[0].Recipient] = name
	m.deliveries[name] = made[0]
	return made[0]
}

// writeWaking writes messages that wake gendry.
func (m *inboxFixture) writeWaking(names ...string) {
	m.Helper()
	for _, name := range names {
		m.write(name, draft{to: parley.NewDelivery{Wakes: true}})
	}
}

// put changes a delivery and remembers the changed delivery.
func (m *inboxFixture) put(name string, edit func(*parley.Delivery)) parley.Delivery {
	m.Helper()
	before := m.deliveries[name]
	after := before
	edit(&after)
	m.update(func(tx storage.Tx) error { return tx.Deliveries().Put(before, after) })
	m.deliveries[name] = after
	return after
}

// requireList calls ask in a view and in an update. It requires the deliveries with the names in want, each with its current
// fields.
func (m *inboxFixture) requireList(what, want string, ask func(storage.Tx) ([]parley.Delivery, error)) {
	m.Helper()
	for how, run := range map[string]func(func(storage.Tx) error){"view": m.view, "update": m.update} {
		var got []parley.Delivery
		run(func(tx storage.Tx) (err error) {
			got, err = ask(tx)
			return err
		})
		m.same(what+" in a "+how, m.joinNames(got), want)
		for _, d := range got {
			m.same(what+" in a "+how, d, m.deliveries[m.names[d.Message+d.Recipient]])
		}
	}
}

func (m *inboxFixture) joinNames(list []parley.Delivery) string {
	return joinEach(list, func(d parley.Delivery) string { return m.names[d.Message+d.Recipient] })
}

func (m *inboxFixture) inbox(agent string) parley.Inbox {
	m.Helper()
	return read(m.fixture, func(tx storage.Tx) (parley.Inbox, error) { return tx.Queue().Inbox(agent) })
}

// leaseTo returns an edit that leases a delivery until a tick.
func leaseTo(lease string, until parley.Tick) func(*parley.Delivery) {
	return func(d *parley.Delivery) { d.State, d.Lease, d.Until = parley.DeliveryDelivered, lease, until }
}

// setState returns an edit that sets the state of a delivery and ends its lease.
func setState(state parley.DeliveryState) func(*parley.Delivery) {
	return func(d *parley.Delivery) {
		d.State, d.Lease, d.Until = state, "", 0
		if state == parley.DeliveryEvicted { // without a failure the delivery would count as replaced, not as evicted
			d.Failure = &parley.Error{Code: parley.Unavailable, Message: "full"}
		}
	}
}

// pause returns an edit after a failed attempt: the next attempt is not before a tick.
func pause(until parley.Tick) func(*parley.Delivery) {
	return func(d *parley.Delivery) {
		d.State, d.Lease, d.Until = parley.DeliveryAccepted, "", until
		d.Attempt++
	}
}

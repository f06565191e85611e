package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var queueTests = []test{
	{"ready deliveries come by seq, or by priority with asks first", readyOrder},
	{"ready deliveries of a recipient can be selected by purpose", readyFilters},
	{"only deliveries that wait are ready", readyStates},
	{"ready deliveries are counted by sender, and can be selected by sender", senderCounts},
	{"leased and paused deliveries are open and not ready, by seq", heldStates},
	{"an inbox is read from the newest delivery, with seen deliveries that still need an answer", newestFirst},
	{"deliveries of a lease come by seq", leasedBySeq},
	{"deliveries that a hub has leased are found by the hub's name, by seq", leasedByNode},
	{"leases and pauses lapse when their time is over", lapsedByMoment},
	{"deliveries are due when they expire, are late or become overdue", dueByTime},
	{"dead letters come by seq", deadBySeq},
	{"a page does not split the dead letters of a message", deadTogether},
	{"the newest heartbeat of a sender is found", newestHeartbeat},
	{"removed agents with open deliveries are listed", orphanedAgents},
	{"open deliveries of a task are found", openOfTask},
	{"the lease clock never goes back", leaseClockNeverGoesBack},
	{"two consumers at once never get the same delivery", takenByOne},
}

// ready returns a function that lists ready deliveries. The default recipient is gendry.
func ready(q storage.QueueFilter) func(storage.Tx) ([]parley.Delivery, error) {
	if q.Recipient == "" {
		q.Recipient = "gendry"
	}
	if q.Limit == 0 {
		q.Limit = 9
	}
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().Ready(q) }
}

func held(limit int) func(storage.Tx) ([]parley.Delivery, error) {
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().LeasedOrPaused("gendry", 0, limit) }
}

func newest(p storage.InboxPage) func(storage.Tx) ([]parley.Delivery, error) {
	if p.Recipient, p.Limit = "gendry", max(p.Limit, 1); p.Limit == 1 {
		p.Limit = 9
	}
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().Newest(p) }
}

func newestFirst(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("plain", "taken", "read")
	m.write("quiet", draft{})
	for _, p := range []parley.Purpose{parley.PurposeAsk, parley.PurposeTask, parley.PurposeApproval, parley.PurposeCallback} {
		m.write(string(p), draft{to: parley.NewDelivery{Wakes: true, Purpose: p}})
		m.write("seen "+string(p), draft{to: parley.NewDelivery{Wakes: true, Purpose: p}})
		m.put("seen "+string(p), setState(parley.DeliverySeen))
	}
	at := time.UnixMilli(1000).UTC()
	m.write("due", draft{to: parley.NewDelivery{Wakes: true}, edit: func(m *parley.Message) { m.Deadline = &at }})
	m.put("due", setState(parley.DeliverySeen))
	m.put("taken", setState(parley.DeliveryDelivered))
	m.put("read", setState(parley.DeliverySeen))
	m.write("done", draft{to: parley.NewDelivery{Wakes: true, Purpose: parley.PurposeAsk}})
	m.put("done", setState(parley.DeliveryAnswered))
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true, Purpose: parley.PurposeAsk}})
	m.requireList("all", "due callback seen approval approval seen task task seen ask ask quiet taken plain", newest(storage.InboxPage{Limit: 50}))
	m.requireList("the newest", "due callback", newest(storage.InboxPage{Limit: 2}))
	m.requireList("before one", "seen task task seen ask", newest(storage.InboxPage{Limit: 3, Before: m.deliveries["approval"].Seq}))
	m.requireList("what is wanted", "due seen approval approval seen task task seen ask ask", newest(storage.InboxPage{Limit: 50, Wanted: true}))
}

func lapsed(now parley.Tick, limit int) func(storage.Tx) ([]parley.Delivery, error) {
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().Lapsed(now, limit) }
}

func due(now time.Time, limit int) func(storage.Tx) ([]parley.Delivery, error) {
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().Due(now, limit) }
}

func leased(lease string) func(storage.Tx) ([]parley.Delivery, error) {
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().Leased(lease) }
}

func dead(after int64, limit int) func(storage.Tx) ([]parley.Delivery, error) {
	return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().Dead(after, limit) }
}

func readyOrder(f *fixture) {
	m := newInboxFixture(f)
	for _, l := range []struct {
		name     string
		priority int
		to       parley.NewDelivery
	}{
		{"low", 2, parley.NewDelivery{Wakes: true}},
		{"quiet", 10, parley.NewDelivery{}},
		{"normal", 0, parley.NewDelivery{Wakes: true}},
		{"ask", 1, parley.NewDelivery{Wakes: true, Purpose: parley.PurposeAsk}},
		{"urgent", 10, parley.NewDelivery{Wakes: true}},
		{"task", 9, parley.NewDelivery{Wakes: true, Purpose: parley.PurposeTask}},
		{"later", 10, parley.NewDelivery{Wakes: true}},
		{"hushed", 1, parley.NewDelivery{}},
	} {
		m.write(l.name, draft{to: l.to, priority: l.priority})
	}
	m.requireList("by seq", "low normal ask urgent task later", ready(storage.QueueFilter{Wakes: true}))
	m.requireList("by priority", "ask urgent later task normal low", ready(storage.QueueFilter{Wakes: true, Urgent: true}))
	m.requireList("what does not wake", "quiet hushed", ready(storage.QueueFilter{}))
	m.requireList("what does not wake has no urgency", "quiet hushed", ready(storage.QueueFilter{Urgent: true}))
	m.requireList("the first", "low normal", ready(storage.QueueFilter{Wakes: true, Limit: 2}))
	m.requireList("the most urgent", "ask urgent", ready(storage.QueueFilter{Wakes: true, Urgent: true, Limit: 2}))
}

func readyFilters(f *fixture) {
	m := newInboxFixture(f)
	m.write("plain", draft{to: parley.NewDelivery{Wakes: true}})
	for _, p := range []parley.Purpose{
		parley.PurposeAsk, parley.PurposeTask, parley.PurposeCallback, parley.PurposeApproval, parley.PurposeError,
	} {
		m.write(string(p), draft{to: parley.NewDelivery{Wakes: true, Purpose: p}})
		m.write("quiet "+string(p), draft{to: parley.NewDelivery{Purpose: p}})
		m.requireList("with the purpose "+string(p), string(p), ready(storage.QueueFilter{Wakes: true, Purpose: p}))
		m.requireList("by priority with the purpose "+string(p), string(p), ready(storage.QueueFilter{Wakes: true, Urgent: true, Purpose: p}))
		m.requireList("quiet with the purpose "+string(p), "quiet "+string(p), ready(storage.QueueFilter{Purpose: p}))
	}
	m.requireList("without a purpose", "plain", ready(storage.QueueFilter{Wakes: true, Plain: true}))
	m.requireList("quiet without a purpose", "", ready(storage.QueueFilter{Plain: true}))
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	m.requireList("another's", "sansa's", ready(storage.QueueFilter{Recipient: "SansaBot", Wakes: true}))
	m.requireList("nobody's", "", ready(storage.QueueFilter{Recipient: "arya", Wakes: true}))
}

func senderCounts(f *fixture) {
	m := newInboxFixture(f)
	from := func(sender string) func(*parley.Message) { return func(msg *parley.Message) { msg.From = sender } }
	first := m.write("a1", draft{to: parley.NewDelivery{Wakes: true}})
	second := m.write("s1", draft{to: parley.NewDelivery{Wakes: true}, edit: from("sansa")})
	m.writeWaking("a2", "a3")
	m.write("quiet", draft{})
	m.write("task", draft{to: parley.NewDelivery{Wakes: true, Purpose: parley.PurposeTask}})
	m.write("elsewhere", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	m.put("a2", leaseTo(newID(), 50))
	counts := func(paused bool) []storage.SenderCount {
		list := read(f, func(tx storage.Tx) ([]storage.SenderCount, error) {
			return tx.Queue().Senders(storage.QueueFilter{Recipient: "gendry", Wakes: true, Paused: paused})
		})
		slices.SortFunc(list, func(a, b storage.SenderCount) int { return strings.Compare(a.Sender, b.Sender) })
		return list
	}
	f.same("without leased deliveries", counts(false), []storage.SenderCount{
		{Sender: "arya", Count: 2, Oldest: first.Seq}, {Sender: "sansa", Count: 1, Oldest: second.Seq},
	})
	paused := m.put("a2", pause(80))
	f.same("what pauses", counts(true), []storage.SenderCount{{Sender: "arya", Count: 1, Oldest: paused.Seq}})
	m.requireList("of one sender", "s1", ready(storage.QueueFilter{Wakes: true, From: "sansa"}))
	m.requireList("of another", "a1 a3 task", ready(storage.QueueFilter{Wakes: true, From: "arya"}))
}

func readyStates(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b", "c")
	m.put("b", leaseTo(newID(), 50))
	m.requireList("without leased deliveries", "a c", ready(storage.QueueFilter{Wakes: true}))
	m.put("b", pause(80))
	m.requireList("without paused deliveries", "a c", ready(storage.QueueFilter{Wakes: true}))
	m.requireList("nor by priority", "a c", ready(storage.QueueFilter{Wakes: true, Urgent: true}))
	m.put("b", setState(parley.DeliveryAccepted))
	m.requireList("after the pause", "a b c", ready(storage.QueueFilter{Wakes: true}))
	for _, state := range []parley.DeliveryState{
		parley.DeliverySeen, parley.DeliveryAcked, parley.DeliveryAnswered, parley.DeliveryFailed, parley.DeliveryExpired,
		parley.DeliveryEvicted, parley.DeliveryDead, parley.DeliveryDropped,
	} {
		m.put("a", setState(state))
		m.requireList("without deliveries that are "+string(state), "b c", ready(storage.QueueFilter{Wakes: true}))
	}
}

func heldStates(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b", "c", "d", "e")
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	m.put("sansa's", leaseTo(newID(), 50))
	m.requireList("none", "", held(9))
	m.put("d", leaseTo(newID(), 50))
	m.put("a", pause(20))
	m.put("c", leaseTo("", 0)) // a person has it
	m.put("e", func(d *parley.Delivery) {
		leaseTo(newID(), 40)(d)
		d.State = parley.DeliverySeen
	})
	m.requireList("by seq", "a c d e", held(9))
	m.requireList("the first", "a c", held(2))
	m.put("c", setState(parley.DeliverySeen)) // the delivery is not open any more
	m.put("d", setState(parley.DeliveryDead))
	m.put("a", setState(parley.DeliveryAccepted))
	m.requireList("what is left", "e", held(9))
}

func leasedBySeq(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b", "c", "d")
	mine, other := newID(), newID()
	m.put("c", leaseTo(mine, 50))
	m.put("a", leaseTo(mine, 60))
	m.put("b", leaseTo(other, 50))
	m.requireList("mine", "a c", leased(mine))
	m.requireList("the other's", "b", leased(other))
	m.requireList("nobody's", "", leased(newID()))
	m.put("a", setState(parley.DeliveryAcked))
	m.requireList("what is left", "c", leased(mine))
	m.put("c", leaseTo(other, 50))
	m.requireList("once another has it", "", leased(mine))
	m.requireList("the other's, both", "b c", leased(other))
}

func leasedByNode(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b", "c", "d", "e")
	by := func(node string, until parley.Tick) func(*parley.Delivery) {
		return func(d *parley.Delivery) {
			leaseTo(newID(), until)(d)
			d.Node = node
		}
	}
	left := func(node string) func(storage.Tx) ([]parley.Delivery, error) {
		return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().LeasedByNode(node) }
	}
	one, two := newID(), newID()
	m.put("c", by(one, 50))
	m.put("a", by(one, 1<<40))
	m.put("b", by(two, 50))
	m.put("d", leaseTo(newID(), 50)) // leased by an older program, which wrote no name
	m.requireList("the one's", "a c", left(one))
	m.requireList("the other's", "b", left(two))
	m.requireList("nobody's", "", left(newID()))
	m.put("a", setState(parley.DeliveryAcked))
	m.put("b", by(one, 50))
	m.requireList("what was extended by another hub", "b c", left(one))
	m.requireList("it is not the former hub's any more", "", left(two))
}

func lapsedByMoment(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b", "c", "d")
	m.put("a", leaseTo(newID(), 30))
	m.put("b", pause(10))
	m.put("c", leaseTo(newID(), 20))
	m.put("d", leaseTo("", 0)) // for as long as a person wants
	for now, want := range map[parley.Tick]string{0: "", 9: "", 10: "b", 20: "b c", 29: "b c", 30: "b c a", 1 << 40: "b c a"} {
		m.requireList(fmt.Sprintf("at %d", now), want, lapsed(now, 9))
	}
	m.requireList("the first", "b c", lapsed(1<<40, 2))
	m.put("a", func(d *parley.Delivery) { d.Until = 90 }) // extend the lease
	m.put("c", setState(parley.DeliveryAcked))
	m.requireList("at 50", "b", lapsed(50, 9))
}

// dueByTime makes deliveries that are due for each reason, and reads the list just before and at each time.
func dueByTime(f *fixture) {
	m := newInboxFixture(f)
	high, err := parley.ParsePriority("high")
	if err != nil {
		f.Fatal(err)
	}
	m.write("nothing", draft{})
	m.write("expires", draft{edit: func(msg *parley.Message) { msg.ExpiresAt = atPointer(50) }})
	m.write("overdue", draft{to: parley.NewDelivery{Wakes: true}, edit: func(msg *parley.Message) { msg.Priority = high }})
	m.write("late", draft{edit: func(msg *parley.Message) { msg.Deadline = atPointer(40) }})
	overdue := m.deliveries["overdue"].OverdueAt()
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{at(39), ""},
		{at(40).Add(-time.Millisecond), ""},
		{at(40), "late"},
		{at(50), "late expires"},
		{overdue.Add(-time.Millisecond), "late expires"},
		{overdue, "late expires overdue"},
	} {
		m.requireList(c.at.String(), c.want, due(c.at, 9))
	}
	m.requireList("the first", "late expires", due(overdue, 2))
	m.put("late", func(d *parley.Delivery) { d.Late = true })
	m.put("overdue", func(d *parley.Delivery) { d.Overdue = true })
	m.put("expires", leaseTo(newID(), 50))
	m.requireList("once all is known", "", due(overdue, 9))
	m.put("expires", pause(60))
	m.requireList("what expires, back again", "expires", due(overdue, 9))
	m.put("expires", setState(parley.DeliveryExpired))
	m.requireList("once it has ended", "", due(overdue.Add(1000*time.Hour), 9))
}

func deadBySeq(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b")
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	m.writeWaking("c")
	m.requireList("none", "", dead(0, 9))
	for _, name := range []string{"c", "sansa's", "a"} {
		m.put(name, setState(parley.DeliveryDead))
	}
	m.requireList("everybody's by seq", "a sansa's c", dead(0, 9))
	m.requireList("the first", "a sansa's", dead(0, 2))
	m.requireList("after one", "sansa's c", dead(m.deliveries["a"].Seq, 9))
	m.requireList("after the last", "", dead(m.deliveries["c"].Seq, 9))
	m.put("sansa's", setState(parley.DeliveryDropped))
	m.put("c", setState(parley.DeliveryAccepted))
	m.requireList("what is left", "a", dead(0, 9))
}

func deadTogether(f *fixture) {
	m := newInboxFixture(f)
	stored := f.post(newMessage(m.channel.ID, "arya", "both"))
	for _, d := range f.deliver(stored, "gendry", "sansa") {
		after := d
		setState(parley.DeliveryDead)(&after)
		f.update(func(tx storage.Tx) error { return tx.Deliveries().Put(d, after) })
	}
	list := read(f, dead(0, 1))
	f.same("recipients", joinEach(list, func(d parley.Delivery) string { return d.Recipient }), "gendry sansa")
}

func newestHeartbeat(f *fixture) {
	m := newInboxFixture(f)
	beat := func(msg *parley.Message) { msg.Type = parley.TypeHeartbeat }
	none := func(tx storage.Tx) error { return errorOf(tx.Queue().Heartbeat("arya", "gendry")) }
	f.missing("before any", none)
	m.writeWaking("no heartbeat")
	f.missing("after a message", none)
	newest := func(what, name, to string) {
		f.Helper()
		m.requireList(what, name, func(tx storage.Tx) ([]parley.Delivery, error) {
			d, err := tx.Queue().Heartbeat("arya", to)
			return []parley.Delivery{d}, err
		})
	}
	m.write("first", draft{edit: beat})
	newest("the only one", "first", "gendry")
	m.write("second", draft{edit: beat})
	m.writeWaking("a message")
	newest("the newest", "second", "gendry")
	m.put("second", setState(parley.DeliveryAcked))
	newest("the newest, whatever has become of it", "second", "gendry")
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa"}, edit: beat})
	newest("another's", "sansa's", "sansa")
	newest("still", "second", "gendry")
	f.missing("the other way", func(tx storage.Tx) error { return errorOf(tx.Queue().Heartbeat("gendry", "arya")) })
}

func (f *fixture) orphaned() []string {
	f.Helper()
	ids := read(f, func(tx storage.Tx) ([]string, error) { return tx.Queue().Orphaned() })
	slices.Sort(ids)
	return ids
}

func orphanedAgents(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa"}})
	f.same("while all are there", f.orphaned(), []string{})
	for _, id := range []string{"gendry", "sansa", "arya"} {
		a := f.findAgent(id)
		a.RemovedAt = atPointer(9)
		f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
	}
	f.same("removed", f.orphaned(), []string{"gendry", "sansa"})
	m.put("sansa's", setState(parley.DeliveryFailed))
	f.same("one has none left", f.orphaned(), []string{"gendry"})
	for what, edit := range map[string]func(*parley.Delivery){
		"leased": leaseTo(newID(), 50), "paused": pause(60), "had by a person": leaseTo("", 0),
		"seen": func(d *parley.Delivery) { d.State, d.Lease, d.Until = parley.DeliverySeen, newID(), 70 },
	} {
		m.put("a", edit)
		f.same(what, f.orphaned(), []string{"gendry"})
	}
	for _, state := range []parley.DeliveryState{parley.DeliverySeen, parley.DeliveryDead, parley.DeliveryFailed} {
		m.put("a", setState(state))
		f.same("once it is "+string(state), f.orphaned(), []string{})
	}
}

func leaseClockNeverGoesBack(f *fixture) {
	var last parley.Tick
	for i := range 50 {
		run := f.update
		if i%2 == 0 {
			run = f.view
		}
		var now parley.Tick
		run(func(tx storage.Tx) (err error) {
			now, err = tx.Queue().Now()
			return err
		})
		if now <= 0 || now < last {
			f.Fatalf("%d after %d", now, last)
		}
		last = now
	}
}

// takenByOne runs several consumers at once. Each takes ready deliveries until it finds none.
func takenByOne(f *fixture) {
	m := newInboxFixture(f)
	const letters, takers = 40, 8
	for i := range letters {
		m.writeWaking(strconv.Itoa(i))
	}
	leases := make([]string, takers)
	f.requireNoErrors(concurrently(takers, func(i int) error {
		leases[i] = newID()
		for range letters / takers {
			if err := f.store.Update(context.Background(), func(tx storage.Tx) error { return takeOne(tx, leases[i]) }); err != nil {
				return err
			}
		}
		return nil
	}))
	total := 0
	for _, lease := range leases {
		total += len(read(f, leased(lease)))
	}
	f.same("taken", total, letters)
	m.requireList("left", "", ready(storage.QueueFilter{Wakes: true}))
}

func takeOne(tx storage.Tx, lease string) error {
	list, err := tx.Queue().Ready(storage.QueueFilter{Recipient: "gendry", Wakes: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	after := list[0]
	leaseTo(lease, 100)(&after)
	return tx.Deliveries().Put(list[0], after)
}

func openOfTask(f *fixture) {
	m := newInboxFixture(f)
	of := func(task string) draft {
		return draft{to: parley.NewDelivery{Wakes: true}, edit: func(m *parley.Message) { m.Task = task }}
	}
	ask := func(task string, limit int) func(storage.Tx) ([]parley.Delivery, error) {
		return func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Queue().OfTask("gendry", task, limit) }
	}
	for _, name := range []string{"leased", "ready", "paused", "done", "more"} {
		m.write(name, of("task-1"))
	}
	m.write("another's", of("task-11"))
	m.writeWaking("nobody's")
	quiet := of("task-1")
	quiet.to.Wakes = false
	m.write("quiet", quiet)
	elsewhere := of("task-1")
	elsewhere.to.Agent = "sansa"
	m.write("sansa's", elsewhere)
	m.put("leased", leaseTo(newID(), 50))
	m.put("paused", pause(60))
	m.put("done", setState(parley.DeliveryFailed))
	m.requireList("all that is open", "leased ready paused more", ask("task-1", 9))
	m.requireList("another task", "another's", ask("task-11", 9))
	m.requireList("no task", "", ask("task-2", 9))
	f.same("at most", len(read(f, ask("task-1", 1))), 1)
	f.missing("of nobody", func(tx storage.Tx) error { return errorOf(tx.Queue().OfTask("nobody", "task-1", 9)) })
}

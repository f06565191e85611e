package hub_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// deliveryMachine drives a hub and the model of its inboxes side by side with random calls.
type deliveryMachine struct {
	w      *fixture
	model  *inboxes
	seq    int64    // the model knows all messages up to this one
	leases []string // all leases so far
	convs  map[[2]string]string
}

func newDeliveryMachine(t *rapid.T, home string) *deliveryMachine {
	x := &deliveryMachine{convs: map[[2]string]string{}, leases: []string{noRoom}, model: &inboxes{
		parts: map[string]*part{}, turns: map[string]int{}, read: map[[2]string]int64{},
	}}
	again := rapid.Bool().Draw(t, "updates run twice")
	x.w = openFixture(t, home, mayLoop, func(w *fixture) {
		w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1}
		if again {
			runTwice(w)
		}
	})
	x.w.AddAgents("arya", "ned", "bran")
	x.w.AddPerson("sansa", parley.AccessMember)
	for _, id := range []string{"arya", "ned", "bran", "sansa", parley.Owner} {
		p := &part{id: id, person: id == "sansa" || id == parley.Owner, depth: 100, attempts: 5, overflow: parley.OverflowEvict}
		x.model.parts[id] = p
		if !p.person {
			x.limits(t, p)
		}
	}
	return x
}

func (x *deliveryMachine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":            x.compare,
		"post":        x.posts,
		"post more":   x.posts,
		"post to ned": x.floods,
		"reply":       x.replies,
		"take":        x.takes,
		"take more":   x.takes,
		"ack":         x.acks,
		"nack":        x.nacks,
		"extend":      x.extends,
		"see":         x.sees,
		"settle":      x.settles,
		"read":        x.reads,
		"lease time":  x.leaseTime,
		"wall time":   x.wallTime,
		"sweep":       x.sweeps,
		"sleep":       x.sleeps,
		"limits":      x.changesLimits,
		"dead":        x.handlesDead,
		"remove":      x.removes,
		"restart":     x.restarts,
	}
}

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// do makes a call and compares its outcome with that of the model.
func (x *deliveryMachine) do(t *rapid.T, what string, want outcome, call func() error) bool {
	t.Helper()
	before := x.w.LastEventNumber()
	err := call()
	got := outcome{}
	if err != nil {
		e := parley.AsError(err)
		got = outcome{e.Code, e.Reason}
	}
	if got != want {
		t.Fatalf("%s: %v, want %v (%v)", what, got, want, err)
	}
	if err != nil && x.w.LastEventNumber() != before {
		t.Fatalf("%s: refused, and wrote events", what)
	}
	x.learn(t)
	return err == nil
}

func (x *deliveryMachine) posts(t *rapid.T) {
	from := pick(t, "from", "arya", "ned", "bran", "sansa", parley.Owner)
	to := rapid.SampledFrom([]string{"arya", "ned", "bran", "sansa"}).Filter(func(to string) bool { return to != from }).Draw(t, "to")
	x.post(t, from, to, nil)
}

// floods posts to ned, so that ned's inbox gets full more often than others.
func (x *deliveryMachine) floods(t *rapid.T) {
	x.post(t, pick(t, "from", "arya", parley.Owner), "ned", nil)
}

func (x *deliveryMachine) replies(t *rapid.T) {
	if len(x.model.sent) == 0 {
		return
	}
	parent := rapid.SampledFrom(x.model.sent).Draw(t, "parent")
	by := pick(t, "by", parent.members[0], parent.members[1], parent.to)
	other := parent.members[0]
	if by == other {
		other = parent.members[1]
	}
	x.post(t, by, other, parent)
}

func (x *deliveryMachine) post(t *rapid.T, from, to string, parent *sent) {
	typ := pick(t, "type", parley.TypeChat, parley.TypeChat, parley.TypeChat, parley.TypeStatus, parley.TypeHeartbeat, parley.TypeError)
	level := pick(t, "priority", 5, 0, 8, 10)
	d := parley.Draft{
		Direct: []string{to}, Type: typ, Priority: mustPriority(level), TTL: pick(t, "ttl", int64(0), 0, 30, 3600),
		RequiresAck: pick(t, "requires ack", false, false, true), Content: text("hello"),
	}
	s := &sent{
		from: from, to: to, members: pairOf(from, to), quiet: !typ.Wakes(), mute: typ == parley.TypeError, heartbeat: typ == parley.TypeHeartbeat,
		rank: level, due: d.Priority.Due(), at: x.model.now, now: standing{State: parley.DeliveryAccepted},
	}
	x.times(t, &d, s)
	if s.quiet || parent != nil {
		// only waking messages that are no answers have a purpose
	} else if s.purpose = pick(t, "purpose", "", "", "", parley.PurposeAsk, parley.PurposeTask); s.purpose == parley.PurposeAsk {
		s.rank = 11
	}
	var want outcome
	if parent == nil {
		want = x.model.post(s)
	} else {
		d.Direct, d.InReplyTo = nil, parent.id
		want = x.model.reply(s, parent)
	}
	x.do(t, "post", want, func() error {
		r, err := x.w.PostFor(ctx, as(from), d, s.purpose)
		s.id, s.seq = r.Message.ID, r.Message.Seq
		if err == nil {
			x.convs[s.members] = r.Message.Conversation
		}
		return err
	})
}

// times draws when a message expires and when its answer is due.
func (x *deliveryMachine) times(t *rapid.T, d *parley.Draft, s *sent) {
	now := x.model.now
	if d.TTL > 0 {
		expires := now.Add(time.Duration(d.TTL) * time.Second)
		s.expires = &expires
	}
	if pick(t, "deadline", false, false, true) {
		deadline := now.Add(time.Minute)
		d.Deadline = &deadline
		s.late = &deadline
	} else if d.RequiresAck {
		late := now.Add(s.due)
		s.late = &late
	}
}

func (x *deliveryMachine) anybody(t *rapid.T) string {
	return pick(t, "who", "ned", "ned", "bran", "arya", "sansa", parley.Owner)
}

func (x *deliveryMachine) takes(t *rapid.T) {
	by := x.anybody(t)
	take := parley.Take{
		Limit: pick(t, "limit", 20, 1, 2, 8), Lease: pick(t, "lease", time.Minute, 10*time.Second, time.Hour),
		AtMostOnce: pick(t, "at most once", false, false, false, true), Seen: rapid.Bool().Draw(t, "seen"),
		Waking: rapid.Bool().Draw(t, "waking"), Urgent: rapid.Bool().Draw(t, "urgent"),
	}
	if all := x.model.those(func(*sent) bool { return true }); len(all) > 0 && pick(t, "only", false, false, true) {
		take.Only = []string{rapid.SampledFrom(all).Draw(t, "first").id, rapid.SampledFrom(all).Draw(t, "second").id}
	}
	want := x.model.caller(by)
	var list []*sent
	if want == fine {
		list = x.model.take(by, take)
	}
	var got parley.Taken
	x.do(t, "take", want, func() (err error) {
		got, err = x.w.Take(ctx, as(by), take)
		return err
	})
	var ids, wanted []string
	for i, d := range got.Deliveries {
		ids = append(ids, d.Message)
		same(t, "its message", got.Messages[i].ID, d.Message)
	}
	for _, s := range list {
		wanted = append(wanted, s.id)
	}
	if !take.Urgent {
		same(t, by+" takes by seq", slices.IsSortedFunc(got.Deliveries, func(a, b parley.Delivery) int { return int(a.Seq - b.Seq) }), true)
	}
	slices.Sort(ids)
	slices.Sort(wanted)
	same(t, by+" takes", ids, wanted)
	x.model.hand(by, take, list, got.Lease)
	if got.Lease != "" {
		x.leases = append(x.leases, got.Lease)
	}
}

// aDelivery draws a delivery and a participant, who mostly is its recipient.
func (x *deliveryMachine) aDelivery(t *rapid.T) (by string, s *sent) {
	if len(x.model.sent) == 0 {
		t.Skip("nothing was sent")
	}
	s = rapid.SampledFrom(x.model.sent).Draw(t, "delivery")
	if held := x.model.those((*sent).held); len(held) > 0 && rapid.Bool().Draw(t, "held") {
		s = rapid.SampledFrom(held).Draw(t, "held delivery")
	}
	return pick(t, "by", s.to, s.to, s.to, s.to, "bran"), s
}

// aLease draws the lease of a delivery, another lease, or none.
func (x *deliveryMachine) aLease(t *rapid.T, s *sent) string {
	return pick(t, "lease", s.now.Lease, s.now.Lease, s.now.Lease, rapid.SampledFrom(x.leases).Draw(t, "any lease"), "")
}

// permitted returns the outcome of a call: denied if the caller was removed, or else the outcome of rest.
func (x *deliveryMachine) permitted(by string, rest func() outcome) outcome {
	if out := x.model.caller(by); out != fine {
		return out
	}
	return rest()
}

func (x *deliveryMachine) acks(t *rapid.T) {
	by, s := x.aDelivery(t)
	lease, ids := x.aLease(t, s), []string{s.id}
	if rapid.Bool().Draw(t, "two") {
		_, second := x.aDelivery(t)
		ids = append(ids, second.id)
	}
	want := x.permitted(by, func() outcome { return x.model.ack(by, lease, ids) })
	x.do(t, "ack", want, func() error { _, err := x.w.Ack(ctx, as(by), lease, ids...); return err })
}

func (x *deliveryMachine) trouble(t *rapid.T) parley.Trouble {
	return parley.Trouble{
		Failure: pick(t, "failure", parley.FailureBusy, parley.FailureServer, parley.FailureNoStart, parley.FailureLost, parley.FailureFinal),
		After:   pick(t, "after", 0, 0, time.Hour),
	}
}

func (x *deliveryMachine) nacks(t *rapid.T) {
	by, s := x.aDelivery(t)
	lease, why := x.aLease(t, s), x.trouble(t)
	want := x.permitted(by, func() outcome { return x.model.nack(by, lease, s.id, why) })
	x.do(t, "nack", want, func() error { _, err := x.w.Nack(ctx, as(by), lease, why, s.id); return err })
}

// onLease makes a call for all deliveries of a lease.
func (x *deliveryMachine) onLease(t *rapid.T, what string, each func(*sent), call func(by hub.Caller, lease string) error) {
	by, s := x.aDelivery(t)
	lease := x.aLease(t, s)
	want := x.permitted(by, func() outcome {
		list := x.model.leased(by, lease)
		if len(list) == 0 {
			return taken
		}
		for _, s := range list {
			each(s)
		}
		return fine
	})
	x.do(t, what, want, func() error { return call(as(by), lease) })
}

func (x *deliveryMachine) extends(t *rapid.T) {
	length := pick(t, "length", time.Second, time.Minute, time.Hour)
	x.onLease(t, "extend", func(s *sent) { s.now.Until = x.model.tick.After(length) }, func(by hub.Caller, lease string) error {
		_, err := x.w.Extend(ctx, by, lease, length)
		return err
	})
}

func (x *deliveryMachine) sees(t *rapid.T) {
	x.onLease(t, "see", func(s *sent) { s.now.State = parley.DeliverySeen }, func(by hub.Caller, lease string) error {
		_, err := x.w.See(ctx, by, lease, "run-1")
		return err
	})
}

func (x *deliveryMachine) settles(t *rapid.T) {
	by, s := x.aDelivery(t)
	lease, how := x.aLease(t, s), parley.Outcome{}
	own := x.model.those(func(s *sent) bool { return s.from == by })
	switch pick(t, "how", "answer", "trouble", "done") {
	case "answer":
		if len(own) > 0 {
			how.Answer = own[len(own)-1].id
		}
	case "trouble":
		why := x.trouble(t)
		how.Trouble = &why
	}
	want := x.permitted(by, func() outcome { return x.model.settle(by, lease, how) })
	x.do(t, "settle", want, func() error { _, err := x.w.Settle(ctx, as(by), lease, how); return err })
}

func (x *deliveryMachine) reads(t *rapid.T) {
	by := pick(t, "reader", "sansa", parley.Owner)
	list := x.model.those(func(s *sent) bool { return slices.Contains(s.members[:], by) })
	if len(list) == 0 {
		return
	}
	s := rapid.SampledFrom(list).Draw(t, "up to")
	other := s.members[0]
	if by == other {
		other = s.members[1]
	}
	x.model.markRead(by, other, s.seq)
	x.do(t, "mark read", fine, func() error { return x.w.MarkRead(ctx, as(by), x.convs[s.members], s.seq) })
}

func (x *deliveryMachine) leaseTime(t *rapid.T) {
	x.w.Leases.Advance(pick(t, "while", time.Second, 5*time.Second, time.Minute, 10*time.Minute, 2*time.Hour))
	x.clocks()
}

// wallTime moves the wall clock, sometimes backwards, as when a clock is set.
func (x *deliveryMachine) wallTime(t *rapid.T) {
	x.w.Clock.Advance(pick(t, "while", time.Millisecond, 5*time.Second, 5*time.Minute, time.Hour, -time.Hour, 25*time.Hour))
	x.clocks()
}

func (x *deliveryMachine) clocks() {
	x.model.now, x.model.tick = x.w.Clock.Now(), parley.Tick(x.w.Leases.Now())
}

func (x *deliveryMachine) sweeps(t *rapid.T) {
	x.model.sweep()
	x.do(t, "sweep", fine, func() error { return x.w.SweepDeliveries(ctx) })
}

// anAgent draws an agent that an owner changes, which may be removed, and the outcome of the call.
func (x *deliveryMachine) anAgent(t *rapid.T) (*part, outcome) {
	p := x.model.parts[pick(t, "agent", "ned", "bran", "arya")]
	if p.removed {
		return p, gone
	}
	return p, fine
}

func (x *deliveryMachine) sleeps(t *rapid.T) {
	p, want := x.anAgent(t)
	until := x.model.now.Add(time.Hour)
	if rapid.Bool().Draw(t, "wake") {
		x.do(t, "wake", want, func() error { _, err := x.w.Wake(ctx, user, p.id); return err })
		p.sleeps = time.Time{}
	} else {
		x.do(t, "sleep", want, func() error { _, err := x.w.Sleep(ctx, user, p.id, until); return err })
		p.sleeps = until
	}
}

func (x *deliveryMachine) changesLimits(t *rapid.T) {
	if p, want := x.anAgent(t); want == fine {
		x.limits(t, p)
	}
}

func (x *deliveryMachine) limits(t *rapid.T, p *part) {
	p.depth, p.attempts = pick(t, "depth", 1, 2, 3, 100), pick(t, "attempts", 1, 2, 5)
	p.overflow = pick(t, "overflow", parley.OverflowEvict, parley.OverflowReject, parley.OverflowUnbounded)
	x.w.EditAgent(p.id, func(a *parley.Agent) {
		a.InboxDepth, a.Attempts, a.InboxOverflow = p.depth, p.attempts, p.overflow
	})
}

func (x *deliveryMachine) handlesDead(t *rapid.T) {
	_, s := x.aDelivery(t)
	if dead := x.model.those(func(s *sent) bool { return s.now.State == parley.DeliveryDead }); len(dead) > 0 {
		s = rapid.SampledFrom(dead).Draw(t, "dead letter")
	}
	by, drop := pick(t, "by", parley.Owner, parley.Owner, "sansa"), rapid.Bool().Draw(t, "drop")
	x.do(t, "dead letter", x.model.revive(by, s.id, s.to, drop), func() (err error) {
		if drop {
			_, err = x.w.DropDead(ctx, as(by), s.id, s.to)
		} else {
			_, err = x.w.RetryDead(ctx, as(by), s.id, s.to)
		}
		return err
	})
}

func (x *deliveryMachine) removes(t *rapid.T) {
	if rapid.IntRange(0, 7).Draw(t, "seldom") > 0 {
		return
	}
	p, _ := x.anAgent(t)
	x.do(t, "remove", x.model.remove(p.id), func() error { return x.w.RemoveAgent(ctx, user, p.id) })
}

func (x *deliveryMachine) restarts(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
		return
	}
	x.w.RestartAndRecover()
	x.clocks()
	x.model.recover()
	clear(x.model.turns)
}

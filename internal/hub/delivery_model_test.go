package hub_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// inboxes is a model of deliveries in plain memory. Each message goes to one recipient, in a DM. The model has no stores,
// transactions or indexes.
type inboxes struct {
	now     time.Time
	tick    parley.Tick
	parts   map[string]*part
	sent    []*sent // by seq
	notices []*sent // messages of the hub after this step; the model does not know their ids and numbers yet
	turns   map[string]int
	read    map[[2]string]int64 // read cursors, by person and by the other member of the DM
}

// part is a participant of the model.
type part struct {
	id              string
	person, removed bool
	depth, attempts int
	evicted         int64
	overflow        parley.Overflow
	sleeps          time.Time
}

// sent is a message and its one delivery.
type sent struct {
	id, from, to  string
	members       [2]string
	seq           int64
	about         string // for an error of the hub: the delivery and its outcome
	quiet, mute   bool   // mute: a failure of it notifies nobody
	heartbeat     bool
	purpose       parley.Purpose
	rank          int
	due           time.Duration
	at            time.Time
	expires, late *time.Time
	answer        *sent

	now standing
}

// standing is the state of a delivery.
type standing struct {
	State   parley.DeliveryState
	Attempt int
	Lease   string
	Until   parley.Tick
	Overdue bool
	Late    bool
	PairSeq int64
}

func (s *sent) open() bool {
	switch s.now.State {
	case parley.DeliveryAccepted, parley.DeliveryDelivered:
		return true
	default:
		return s.now.State == parley.DeliverySeen && s.now.Lease != ""
	}
}

func (s *sent) held() bool {
	return s.now.State == parley.DeliveryDelivered || s.now.State == parley.DeliverySeen
}

func (s *sent) ready() bool { return s.now.State == parley.DeliveryAccepted && s.now.Until == 0 }

// settle puts a delivery into a state in which nobody holds it.
func (s *sent) settle(state parley.DeliveryState) {
	s.now.State, s.now.Lease, s.now.Until = state, "", 0
}

func (m *inboxes) find(id, to string) *sent {
	for _, s := range m.sent {
		if s.id == id && s.to == to {
			return s
		}
	}
	return nil
}

func (m *inboxes) withID(id string) *sent {
	return m.sent[slices.IndexFunc(m.sent, func(s *sent) bool { return s.id == id })]
}

func (m *inboxes) those(which func(*sent) bool) (list []*sent) {
	for _, s := range m.sent {
		if which(s) {
			list = append(list, s)
		}
	}
	return list
}

func (m *inboxes) caller(id string) outcome {
	if m.parts[id].removed {
		return denied
	}
	return fine
}

// end ends a delivery by a failure, and notifies the sender.
func (m *inboxes) end(s *sent, state parley.DeliveryState) {
	if s.held() {
		s.now.Attempt++
	}
	s.settle(state)
	m.tell(s, true)
}

func (m *inboxes) tell(s *sent, final bool) {
	if s.mute || m.parts[s.from].removed {
		return
	}
	expires := m.now.Add(7 * 24 * time.Hour)
	m.notices = append(m.notices, &sent{
		expires: &expires,
		from:    parley.System, to: s.from, members: s.members, quiet: true, mute: true, purpose: parley.PurposeError, at: m.now,
		about: aboutOf(s.id, s.to, s.now.State, final),
		now:   standing{State: parley.DeliveryAccepted},
	})
}

func aboutOf(message, recipient string, state parley.DeliveryState, final bool) string {
	return fmt.Sprint(message, " ", recipient, " ", state, " ", final)
}

// post stores a message, if there is room for it.
func (m *inboxes) post(s *sent) outcome {
	switch {
	case m.parts[s.from].removed:
		return denied
	case m.parts[s.to].removed:
		return gone
	}
	victims, fits := m.victims(s)
	if !fits {
		return full
	}
	if old := m.lastBeat(s); old != nil && old.now.State == parley.DeliveryAccepted {
		old.settle(parley.DeliveryEvicted)
	}
	m.keep(s)
	for _, victim := range victims {
		m.end(victim, parley.DeliveryEvicted)
		m.parts[s.to].evicted++
	}
	return fine
}

// keep gives a message its pair_seq and adds it to the recipient's inbox.
func (m *inboxes) keep(s *sent) {
	s.now.PairSeq = 1
	for _, other := range m.sent {
		if other.from == s.from && other.to == s.to {
			s.now.PairSeq = other.now.PairSeq + 1
		}
	}
	m.sent = append(m.sent, s)
}

// lastBeat returns the heartbeat that a new heartbeat replaces, or nil.
func (m *inboxes) lastBeat(s *sent) *sent {
	beats := m.those(func(o *sent) bool { return o.heartbeat && s.heartbeat && o.from == s.from && o.to == s.to })
	if len(beats) == 0 {
		return nil
	}
	return beats[len(beats)-1]
}

// victims returns the deliveries that a new message evicts. It returns false if the inbox has no room for the message.
func (m *inboxes) victims(s *sent) ([]*sent, bool) {
	p := m.parts[s.to]
	if s.purpose != "" || p.person || p.overflow == parley.OverflowUnbounded {
		return nil, true
	}
	replaced := m.lastBeat(s)
	alike := m.those(func(o *sent) bool {
		return o.to == s.to && o.quiet == s.quiet && o.purpose == "" && o.open() &&
			(o != replaced || o.now.State != parley.DeliveryAccepted)
	})
	over := len(alike) + 1 - p.depth
	if over <= 0 {
		return nil, true
	}
	if p.overflow == parley.OverflowReject && !s.quiet {
		return nil, false
	}
	over = min(over, 16)
	waiting := slices.DeleteFunc(alike, func(o *sent) bool { return o.now.State != parley.DeliveryAccepted })
	if len(waiting) < over && !s.quiet {
		return nil, false
	}
	return evictedOf(waiting, s, min(over, len(waiting))), true
}

// evictedOf chooses n of the pending deliveries. Each one is the oldest delivery of the sender that has the most of them at that
// moment, including the new message s.
func evictedOf(waiting []*sent, s *sent, n int) (victims []*sent) {
	for range n {
		count := map[string]int{s.from: 1}
		for _, o := range waiting {
			count[o.from]++
		}
		at := 0
		for i, o := range waiting {
			if count[o.from] > count[waiting[at].from] {
				at = i
			}
		}
		victims, waiting = append(victims, waiting[at]), slices.Delete(slices.Clone(waiting), at, at+1)
	}
	return victims
}

// reply posts a reply to another message, and marks that message as answered.
func (m *inboxes) reply(s, parent *sent) outcome {
	out := m.post(s)
	if out == fine && parent.to == s.from && (parent.open() || parent.held() || parent.now.State == parley.DeliveryAcked) {
		parent.settle(parley.DeliveryAnswered)
		parent.answer = s
	}
	return out
}

// take returns the deliveries that are ready. It ends those that have expired instead.
func (m *inboxes) take(by string, t parley.Take) (taken []*sent) {
	for {
		list := m.choose(by, t)
		for _, s := range list {
			if s.expires != nil && !s.expires.After(m.now) {
				m.end(s, parley.DeliveryExpired)
			} else {
				taken = append(taken, s)
			}
		}
		if len(taken) > 0 || len(list) == 0 {
			break
		}
	}
	if t.Urgent {
		m.turns[by] += len(taken)
	}
	return taken
}

// hand notes that a participant has taken deliveries.
func (m *inboxes) hand(by string, t parley.Take, taken []*sent, lease string) {
	for _, s := range taken {
		switch {
		case t.AtMostOnce:
			s.settle(parley.DeliveryAcked)
			continue
		case t.Seen:
			s.now.State = parley.DeliverySeen
		default:
			s.now.State = parley.DeliveryDelivered
		}
		if !m.parts[by].person {
			s.now.Lease, s.now.Until = lease, m.tick.After(t.Lease)
		}
	}
}

func (m *inboxes) choose(by string, t parley.Take) []*sent {
	asleep := m.parts[by].sleeps.After(m.now)
	list := m.those(func(s *sent) bool {
		return s.to == by && s.ready() && (!asleep || s.purpose == parley.PurposeAsk) &&
			(len(t.Only) == 0 || slices.Contains(t.Only, s.id)) &&
			(len(t.Only) > 0 || !s.quiet || !t.Waking && !t.Urgent)
	})
	if len(t.Only) > 0 {
		return list
	}
	due := 0
	if n := min(t.Limit, len(list)); t.Urgent && !asleep && n == t.Limit {
		due = (m.turns[by]%8 + n) / 8
	}
	first, rest := slices.Clone(list[:min(due, len(list))]), list[min(due, len(list)):]
	if t.Urgent {
		slices.SortStableFunc(rest, func(a, b *sent) int { return cmp.Compare(b.rank, a.rank) })
	}
	return append(first, rest[:min(t.Limit-len(first), len(rest))]...)
}

// ack acknowledges deliveries. It checks all of them before it changes any.
func (m *inboxes) ack(by, lease string, ids []string) outcome {
	for _, id := range ids {
		if m.find(id, by) == nil {
			return missing
		}
	}
	for _, id := range ids {
		if s := m.find(id, by); lease != "" && s.now.Lease != "" && s.now.Lease != lease || !s.ackable() {
			return taken
		}
	}
	for _, id := range ids {
		if s := m.find(id, by); s.now.State != parley.DeliveryAnswered {
			s.settle(parley.DeliveryAcked)
		}
	}
	return fine
}

func (s *sent) ackable() bool {
	return s.open() || s.held() || s.now.State == parley.DeliveryAcked || s.now.State == parley.DeliveryAnswered
}

func (m *inboxes) nack(by, lease, id string, why parley.Trouble) outcome {
	s := m.find(id, by)
	switch {
	case s == nil:
		return missing
	case !s.held() || s.now.Lease == "" || s.now.Lease != lease:
		return taken
	}
	m.giveBack(s, why.Failure, why.After)
	return fine
}

func (m *inboxes) giveBack(s *sent, f parley.Failure, wait time.Duration) {
	p := m.parts[s.to]
	switch {
	case f == parley.FailureFinal || s.purpose == parley.PurposeAsk:
		m.end(s, parley.DeliveryFailed)
	case s.now.Attempt+1 >= p.attempts:
		m.end(s, parley.DeliveryDead)
	default:
		s.settle(parley.DeliveryAccepted)
		s.now.Attempt++
		s.now.Until = m.tick.After(max(wait, pauseOf(f, s.now.Attempt)))
	}
}

// pauseOf returns the pause after a failed attempt. It doubles with each attempt, up to a maximum.
func pauseOf(f parley.Failure, tries int) time.Duration {
	bounds := map[parley.Failure][2]time.Duration{
		parley.FailureLost:    {time.Second, time.Minute},
		parley.FailureBusy:    {5 * time.Second, 5 * time.Minute},
		parley.FailureServer:  {2 * time.Second, 2 * time.Minute},
		parley.FailureNoStart: {5 * time.Second, 10 * time.Minute},
	}[f]
	return min(bounds[0]<<(tries-1), bounds[1])
}

func (m *inboxes) leased(by, lease string) []*sent {
	return m.those(func(s *sent) bool { return lease != "" && s.to == by && s.now.Lease == lease })
}

func (m *inboxes) settle(by, lease string, how parley.Outcome) outcome {
	list := m.leased(by, lease)
	if len(list) == 0 {
		return taken
	}
	for _, s := range list {
		switch {
		case how.Trouble != nil:
			m.giveBack(s, how.Trouble.Failure, how.Trouble.After)
		case how.Answer != "":
			s.settle(parley.DeliveryAnswered)
			s.answer = m.withID(how.Answer)
		default:
			s.settle(parley.DeliveryAcked)
		}
	}
	return fine
}

// sweep handles what is due by the lease clock, and then what is due by the wall clock.
func (m *inboxes) sweep() {
	for _, s := range m.those(func(s *sent) bool { return s.now.Until != 0 && s.now.Until <= m.tick }) {
		if s.now.State == parley.DeliveryAccepted {
			s.now.Until = 0
		} else {
			m.giveBack(s, parley.FailureLost, 0)
		}
	}
	past := func(t *time.Time) bool { return t != nil && !t.After(m.now) }
	for _, s := range slices.Clone(m.sent) {
		due := s.at.Add(s.due)
		switch {
		case s.now.State == parley.DeliveryAccepted && past(s.expires):
			m.end(s, parley.DeliveryExpired)
			continue
		case !s.quiet && !s.now.Overdue && past(&due) && (s.now.State == parley.DeliveryAccepted || s.now.State == parley.DeliveryDelivered):
			s.now.Overdue = true
			m.tell(s, false)
		}
		if !s.now.Late && past(s.late) && (s.open() || s.held()) {
			s.now.Late = true
			m.tell(s, false)
		}
	}
}

// recover makes all deliveries that were held when the hub ended ready again. That counts as no attempt. It also ends all pauses.
func (m *inboxes) recover() {
	for _, s := range m.those(func(s *sent) bool { return s.now.Until != 0 }) {
		if s.now.State != parley.DeliveryAccepted {
			s.settle(parley.DeliveryAccepted)
		}
		s.now.Until = 0
	}
}

// revive retries a dead letter, or drops it.
func (m *inboxes) revive(by, id, to string, drop bool) outcome {
	s := m.find(id, to)
	switch {
	case by != parley.Owner:
		return denied
	case s.now.State != parley.DeliveryDead:
		return taken
	case drop:
		m.end(s, parley.DeliveryDropped)
	case m.parts[to].removed:
		return gone
	default:
		s.settle(parley.DeliveryAccepted)
		s.now.Attempt = 0
	}
	return fine
}

func (m *inboxes) remove(id string) outcome {
	if m.parts[id].removed {
		return gone
	}
	m.parts[id].removed = true
	for _, s := range m.those(func(s *sent) bool { return s.to == id && s.open() }) {
		m.end(s, parley.DeliveryFailed)
	}
	return fine
}

// markRead marks the messages that a person has read in a conversation as seen.
func (m *inboxes) markRead(by, other string, upTo int64) {
	members := pairOf(by, other)
	cursor := [2]string{by, other}
	for _, s := range m.sent {
		if s.to == by && s.members == members && s.seq > m.read[cursor] && s.seq <= upTo &&
			(s.now.State == parley.DeliveryAccepted || s.now.State == parley.DeliveryDelivered) {
			s.now.State = parley.DeliverySeen
		}
	}
	m.read[cursor] = max(m.read[cursor], upTo)
}

func pairOf(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

func (m *inboxes) inbox(id string) parley.Inbox {
	inbox := parley.Inbox{Evicted: m.parts[id].evicted}
	for _, s := range m.sent {
		switch {
		case s.to != id || !s.open():
		case s.purpose != "":
			inbox.Work++
		case s.quiet:
			inbox.Quiet++
		default:
			inbox.Waking++
		}
	}
	return inbox
}

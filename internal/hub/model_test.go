package hub_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// model is a model of the hub in plain memory: conversations, their members, their messages, and the recipients of the messages. It
// has no stores, transactions or events.
type model struct {
	now      time.Time
	peers    []*peer
	rooms    []*room
	pairs    map[[2]string]int64
	keys     map[[2]string]*note // by sender and key
	idleDays time.Duration
}

type peer struct {
	id, name               string
	person, owner, removed bool
}

type room struct {
	id, name, topic string
	creator         string
	kind            parley.ConversationKind
	public          bool
	archived        bool
	deleted         bool
	changed         time.Time
	members         map[string]int64 // the read cursor of each member
	said            []*note
	secrets         []string // words that only the readers of the conversation may see
}

type note struct {
	id, from, text string
	seq            int64
	at             time.Time
	in             *room
	reach          map[string]bool
	pairs          map[string]int64
	open           map[string]bool // recipients with an open delivery
	settled        map[string]bool // recipients that have acknowledged or answered it
	reply          bool
}

// outcome is the result of a call: zero for a success, or the code and reason of the error.
type outcome struct {
	code   parley.Code
	reason parley.Reason
}

var (
	fine    = outcome{}
	denied  = outcome{code: parley.NotPermitted}
	bad     = outcome{code: parley.BadInput}
	gone    = outcome{parley.Unavailable, parley.Gone}
	full    = outcome{code: parley.Unavailable}
	missing = outcome{parley.BadInput, parley.NotFound}
	taken   = outcome{parley.BadInput, parley.Conflict}
)

func newModel() *model {
	return &model{
		now:   began,
		peers: []*peer{{id: parley.Owner, name: parley.Owner, person: true, owner: true}},
		pairs: map[[2]string]int64{}, keys: map[[2]string]*note{},
	}
}

func (m *model) peer(name string) *peer {
	for _, p := range m.peers {
		if strings.EqualFold(p.id, name) || strings.EqualFold(p.name, name) {
			return p
		}
	}
	return nil
}

// addressee returns a participant that a message can name: one that exists and is not removed.
func (m *model) addressee(name string) (*peer, outcome) {
	switch p := m.peer(name); {
	case p == nil:
		return nil, missing
	case p.removed:
		return nil, gone
	default:
		return p, fine
	}
}

func (m *model) caller(name string) (*peer, outcome) {
	if p := m.peer(name); p != nil && !p.removed {
		return p, fine
	}
	return nil, denied
}

func (m *model) addAgent(by string, p peer) outcome {
	boss, out := m.caller(by)
	switch {
	case out != fine:
		return out
	case !boss.owner:
		return denied
	case m.peer(p.id) != nil || m.peer(p.name) != nil:
		return taken
	}
	m.peers = append(m.peers, &p)
	return fine
}

func (m *model) renameAgent(by, who, name string) outcome {
	boss, out := m.caller(by)
	if out != fine {
		return out
	}
	if !boss.owner {
		return denied
	}
	p, out := m.addressee(who)
	if out != fine {
		return out
	}
	if other := m.peer(name); other != nil && other != p {
		return taken
	}
	p.name = name
	return fine
}

func (m *model) removeAgent(by, who string) outcome {
	boss, out := m.caller(by)
	if out != fine {
		return out
	}
	if !boss.owner {
		return denied
	}
	p, out := m.addressee(who)
	if out != fine {
		return out
	}
	if p.id == parley.Owner {
		return denied
	}
	p.removed = true
	for _, r := range m.rooms {
		if !r.fixed() {
			delete(r.members, p.id)
		}
	}
	m.orphan(p)
	return fine
}

// orphan fails the open deliveries of a removed participant, and notifies each sender in the conversation of the message: first of
// waking deliveries, then of quiet ones, each in order.
func (m *model) orphan(p *peer) {
	var open []*note
	for _, r := range m.rooms {
		for _, s := range r.said {
			if !r.deleted && s.open[p.id] {
				open = append(open, s)
			}
		}
	}
	slices.SortFunc(open, func(a, b *note) int { return cmp.Compare(a.seq, b.seq) })
	for _, wakes := range []bool{true, false} {
		for _, s := range open {
			if s.reach[p.id] != wakes {
				continue
			}
			delete(s.open, p.id)
			if sender := m.peer(s.from); sender != nil && !sender.removed {
				m.tell(sender, s.in, "Error: "+p.name+" was removed. Hint: write to another participant.")
			}
		}
	}
}

// tell adds a message of the hub to a participant. The machine later learns its id and number from the hub.
func (m *model) tell(p *peer, r *room, text string) {
	m.keep(r, &note{from: parley.System, text: text, reach: map[string]bool{p.id: false}, settled: map[string]bool{}, reply: true})
	r.archived = false
}

// keep adds a message to its conversation.
func (m *model) keep(r *room, s *note) {
	s.in, s.at = r, m.now
	s.pairs, s.open = map[string]int64{}, map[string]bool{}
	for id := range s.reach {
		m.pairs[[2]string{s.from, id}]++
		s.pairs[id], s.open[id] = m.pairs[[2]string{s.from, id}], true
	}
	r.said = append(r.said, s)
	r.changed = m.now
}

func (m *model) ack(by, id string) outcome {
	p, out := m.caller(by)
	if out != fine {
		return out
	}
	s := m.note(id)
	if s == nil || s.in.deleted {
		return missing
	}
	if _, reached := s.reach[p.id]; !reached {
		return missing
	}
	delete(s.open, p.id)
	r := s.in
	if !s.settled[p.id] && p.person && s.reply && r.kind == parley.Ephemeral && r.creator == p.id && !r.archived && !r.owes() {
		r.archived, r.changed = true, m.now // the person has seen the answer
	}
	s.settled[p.id] = true
	return fine
}

// fixed reports whether the members of a conversation cannot change: it is a DM or an implicit group.
func (r *room) fixed() bool { return r.name == "" }

func (r *room) in(p *peer) bool { _, in := r.members[p.id]; return in }

func (r *room) readable(p *peer) bool { return !r.deleted && (r.in(p) || r.public || p.owner) }

func (r *room) last() int64 {
	if len(r.said) == 0 {
		return 0
	}
	return r.said[len(r.said)-1].seq
}

func (r *room) unread(p *peer) (n int) {
	for _, s := range r.said {
		if s.from != p.id && s.seq > r.members[p.id] {
			n++
		}
	}
	return n
}

// seesNamed reports whether a participant sees another conversation with a name.
func (m *model) seesNamed(by *peer, name string, but *room) bool {
	return slices.ContainsFunc(m.rooms, func(r *room) bool {
		return r != but && !r.deleted && r.name == name && name != "" && r.readable(by)
	})
}

// find returns the conversation that a caller means, or nil if the caller may read none of that name.
func (m *model) find(by *peer, ref string) *room {
	r, _ := m.meant(by, ref)
	return r
}

// meant returns the conversation that a caller means: the one with an id, or the one of that name in which the caller takes part,
// or else the one that it may read. If there are several, the outcome is a conflict.
func (m *model) meant(by *peer, ref string) (*room, outcome) {
	var in, readable []*room
	for _, r := range m.rooms {
		switch {
		case !r.readable(by):
		case r.id == ref:
			return r, fine
		case r.fixed() || strings.TrimPrefix(ref, "#") != r.name:
		case r.in(by):
			in = append(in, r)
		default:
			readable = append(readable, r)
		}
	}
	if len(in) == 0 {
		in = readable
	}
	switch len(in) {
	case 0:
		return nil, missing
	case 1:
		return in[0], fine
	default:
		return nil, taken
	}
}

// at finds the caller and the conversation of a call.
func (m *model) at(by, ref string) (*peer, *room, outcome) {
	p, out := m.caller(by)
	if out != fine {
		return nil, nil, out
	}
	r, out := m.meant(p, ref)
	if out != fine {
		return nil, nil, out
	}
	return p, r, fine
}

func (m *model) create(by string, r *room, with []string) outcome {
	p, out := m.caller(by)
	if out != fine {
		return out
	}
	r.members = map[string]int64{p.id: 0}
	for _, name := range with {
		other, out := m.addressee(name)
		if out != fine {
			return out
		}
		r.members[other.id] = 0
	}
	if m.seesNamed(p, r.name, r) {
		return taken
	}
	r.creator, r.changed = p.id, m.now
	m.rooms = append(m.rooms, r)
	return fine
}

func (m *model) join(by, ref string) outcome {
	p, r, out := m.at(by, ref)
	switch {
	case out != fine || r.in(p):
		return out
	case r.fixed():
		return bad
	}
	r.members[p.id] = r.last()
	return fine
}

func (m *model) leave(by, ref string) outcome {
	p, r, out := m.at(by, ref)
	switch {
	case out != fine:
		return out
	case !r.in(p), r.fixed():
		return bad
	}
	delete(r.members, p.id)
	return fine
}

func (m *model) add(by, ref, who string) outcome {
	_, r, out := m.at(by, ref)
	if out != fine {
		return out
	}
	if r.fixed() {
		return bad
	}
	other, out := m.addressee(who)
	if out == fine && !r.in(other) {
		if !r.public && slices.ContainsFunc(m.rooms, func(o *room) bool { return o.public && !o.deleted && o.name == r.name }) {
			return taken
		}
		r.members[other.id] = r.last()
	}
	return out
}

func (m *model) remove(by, ref, who string) outcome {
	p, r, out := m.at(by, ref)
	if out != fine {
		return out
	}
	other := m.peer(who)
	switch {
	case other == nil:
		return missing
	case other != p && !m.runs(p, r):
		return denied
	case r.fixed(), !r.in(other):
		return bad
	}
	delete(r.members, other.id)
	return fine
}

func (m *model) runs(p *peer, r *room) bool { return p.owner || r.creator == p.id && r.in(p) }

func (m *model) rename(by, ref, name string) outcome {
	p, r, out := m.at(by, ref)
	if out != fine {
		return out
	}
	switch {
	case r.fixed():
		return bad
	case !m.runs(p, r):
		return denied
	case m.seesNamed(p, name, r):
		return taken
	}
	r.name, r.changed = name, m.now
	return fine
}

func (m *model) setTopic(by, ref, topic string) outcome {
	p, r, out := m.at(by, ref)
	switch {
	case out != fine:
		return out
	case !r.in(p) && !p.owner:
		return denied
	}
	r.topic, r.changed = topic, m.now
	return fine
}

func (m *model) archive(by, ref string, archived bool) outcome {
	p, r, out := m.at(by, ref)
	switch {
	case out != fine:
		return out
	case !r.in(p) && !p.owner:
		return denied
	case r.archived != archived:
		r.archived, r.changed = archived, m.now
	}
	return fine
}

func (m *model) deleteRoom(by, ref string) outcome {
	if p, out := m.caller(by); out == fine && !p.owner {
		return denied // whether the conversation exists or not
	}
	_, r, out := m.at(by, ref)
	if out != fine {
		return out
	}
	r.deleted = true
	return fine
}

func (m *model) markRead(by, ref string, seq int64) outcome {
	p, r, out := m.at(by, ref)
	switch {
	case out != fine:
		return out
	case !r.in(p):
		return bad
	case seq == 0 || seq > r.last():
		seq = r.last()
	}
	for _, s := range r.said {
		if p.person && s.seq > r.members[p.id] && s.seq <= seq {
			delete(s.open, p.id)
		}
	}
	r.members[p.id] = max(r.members[p.id], seq)
	return fine
}

// sweep archives idle conversations: ephemeral ones without open deliveries after a day, others after the configured time.
func (m *model) sweep() {
	for _, r := range m.rooms {
		idle := m.now.Sub(r.changed)
		if r.kind == parley.Ephemeral && idle > 24*time.Hour && !r.owes() ||
			r.kind != parley.Ephemeral && idle > m.idleDays {
			if !r.archived {
				r.archived, r.changed = true, m.now
			}
		}
	}
}

// owes reports whether a message in the conversation has an open delivery.
func (r *room) owes() bool {
	return slices.ContainsFunc(r.said, func(s *note) bool { return len(s.open) > 0 })
}

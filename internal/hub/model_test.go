package hub_test

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// The model is a hub in plain memory, as the contract describes it: who takes part in what, what was
// said there, whom it reached. It knows nothing of stores, transactions or events.
type model struct {
	now      time.Time
	peers    []*peer
	rooms    []*room
	pairs    map[[2]string]int64
	keys     map[[2]string]*note // by sender and key
	settled  bool                // no delivery is open
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
	members         map[string]int64 // how far each has read
	said            []*note
	secrets         []string // every word that only its readers may learn
}

type note struct {
	id, from, text string
	seq            int64
	at             time.Time
	in             *room
	reach          map[string]bool
	pairs          map[string]int64
}

// outcome is what a caller is told: nothing, or the code and reason of a refusal.
type outcome struct {
	code   parley.Code
	reason parley.Reason
}

var (
	fine    = outcome{}
	denied  = outcome{code: parley.NotPermitted}
	bad     = outcome{code: parley.BadInput}
	gone    = outcome{code: parley.Unavailable}
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

// addressee is somebody who can be named: known, and not removed.
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
	return fine
}

// fixed rooms are those of a pair or set; nobody comes or goes.
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

func (m *model) named(name string) *room {
	for _, r := range m.rooms {
		if !r.deleted && r.name == name {
			return r
		}
	}
	return nil
}

// find is the room a caller means, if there is one it may read.
func (m *model) find(by *peer, ref string) *room {
	for _, r := range m.rooms {
		if r.readable(by) && (r.id == ref || !r.fixed() && strings.TrimPrefix(ref, "#") == r.name) {
			return r
		}
	}
	return nil
}

// at resolves caller and room, as every act on a room does first.
func (m *model) at(by, ref string) (*peer, *room, outcome) {
	p, out := m.caller(by)
	if out != fine {
		return nil, nil, out
	}
	if r := m.find(p, ref); r != nil {
		return p, r, fine
	}
	return nil, nil, missing
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
	if m.named(r.name) != nil {
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
	other := m.named(name)
	switch {
	case r.fixed():
		return bad
	case !m.runs(p, r):
		return denied
	case other != nil && other != r:
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
	p, r, out := m.at(by, ref)
	switch {
	case out != fine:
		return out
	case !p.owner:
		return denied
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
	r.members[p.id] = max(r.members[p.id], seq)
	return fine
}

// sweep hides what has been idle: an ephemeral room for a day without open delivery, others for as
// long as is configured.
func (m *model) sweep() {
	for _, r := range m.rooms {
		idle := m.now.Sub(r.changed)
		if r.kind == parley.Ephemeral && idle > 24*time.Hour && (m.settled || !r.owes()) ||
			r.kind != parley.Ephemeral && idle > m.idleDays {
			if !r.archived {
				r.archived, r.changed = true, m.now
			}
		}
	}
}

// owes says whether anything said in the room was for somebody.
func (r *room) owes() bool {
	return slices.ContainsFunc(r.said, func(s *note) bool { return len(s.reach) > 0 })
}

// words is what the author of a draft has in mind: the draft, and whom its text names.
type words struct {
	parley.Draft
	lead     string // the id the text begins with
	mentions []string
}

// plan is what a post will do.
type plan struct {
	again    *note // it was posted before
	room     *room
	fresh    bool // the room is opened for it
	joins    []string
	reach    map[string]bool
	notices  int
	answered bool
}

// post works out what a post does, without doing it.
func (m *model) post(by string, d words) (plan, outcome) {
	p, out := m.caller(by)
	if out != fine {
		return plan{}, out
	}
	if s := m.keys[[2]string{p.id, d.IdempotencyKey}]; s != nil && s.at.After(m.now.Add(-24*time.Hour)) {
		if !s.in.readable(p) {
			return plan{}, taken
		}
		return plan{again: s}, fine
	}
	parent, out := m.parent(p, &d)
	if out != fine {
		return plan{}, out
	}
	do, out := m.destination(p, d)
	if out != fine {
		return do, out
	}
	if parent != nil && parent.in != do.room {
		return do, bad
	}
	do.answered = do.room.kind == parley.Ephemeral && parent != nil && do.room.creator != p.id
	to := ""
	switch {
	case strings.EqualFold(d.To, parley.All):
		to = parley.All
	case d.To != "":
		other, out := m.addressee(d.To)
		if out != fine {
			return do, out
		}
		if other == p {
			return do, bad
		}
		to = other.id
	}
	return m.audience(p, do, d, to)
}

func (m *model) parent(p *peer, d *words) (*note, outcome) {
	if d.InReplyTo == "" {
		return nil, fine
	}
	s := m.note(d.InReplyTo)
	if s == nil || !s.in.readable(p) {
		return nil, missing
	}
	if d.Conversation == "" && len(d.Direct) == 0 {
		d.Conversation = s.in.id
		if sender := m.peer(s.from); d.To == "" && s.from != p.id && !sender.removed && s.in.in(sender) {
			d.To = s.from
		}
	}
	return s, fine
}

func (m *model) note(id string) *note {
	for _, r := range m.rooms {
		for _, s := range r.said {
			if s.id == id {
				return s
			}
		}
	}
	return nil
}

func (m *model) destination(p *peer, d words) (do plan, out outcome) {
	if len(d.Direct) > 0 {
		return m.direct(p, d)
	}
	if do.room = m.find(p, d.Conversation); do.room == nil {
		return do, missing
	}
	if !do.room.in(p) {
		if !do.room.public {
			return do, denied
		}
		do.joins = append(do.joins, p.id)
	}
	return do, fine
}

func (m *model) direct(p *peer, d words) (do plan, out outcome) {
	set := map[string]int64{p.id: 0}
	for _, name := range d.Direct {
		other, out := m.addressee(name)
		if out != fine {
			return do, out
		}
		set[other.id] = 0
	}
	if len(set) == 1 {
		return do, bad
	}
	kind := parley.Group
	switch {
	case d.Ephemeral:
		kind = parley.Ephemeral
	case len(set) == 2:
		kind = parley.DM
	}
	for _, r := range m.rooms {
		if !r.deleted && r.fixed() && r.kind == kind && kind != parley.Ephemeral && sameKeys(r.members, set) {
			return plan{room: r}, fine
		}
	}
	return plan{fresh: true, room: &room{kind: kind, creator: p.id, members: set}}, fine
}

func sameKeys(a, b map[string]int64) bool {
	for k := range a {
		if _, ok := b[k]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}

func (m *model) audience(p *peer, do plan, d words, to string) (plan, outcome) {
	r := do.room
	in := func(id string) bool { _, ok := r.members[id]; return ok || slices.Contains(do.joins, id) }
	named := map[string]bool{}
	everyone := r.fixed() || to == parley.All
	calls := false
	if lead := m.peer(d.lead); lead != nil && !lead.removed && strings.EqualFold(lead.id, d.lead) && in(lead.id) {
		named[lead.id] = true
	}
	bring := func(id string) bool {
		if !in(id) && r.public {
			do.joins = append(do.joins, id)
		}
		return in(id)
	}
	if to != "" && to != parley.All {
		if !bring(to) {
			return do, bad
		}
		named[to] = true
	}
	told := map[string]bool{}
	for _, name := range d.mentions {
		other := m.peer(name)
		switch {
		case strings.EqualFold(name, parley.All):
			calls, everyone = true, true
		case other == nil || other.removed:
		case bring(other.id):
			named[other.id] = true
		default:
			told[other.id] = true
		}
	}
	do.notices = len(told)
	do.reach = map[string]bool{}
	wakes := d.Type.Wakes()
	byItself := r.fixed() && to != parley.All && (r.kind != parley.Group || p.person)
	left := 0
	for _, other := range m.peers {
		switch {
		case other == p || !in(other.id) || !everyone && !named[other.id]:
		case other.removed:
			left++
		default:
			do.reach[other.id] = wakes && (named[other.id] || calls || byItself)
		}
	}
	do.notices += left
	if left > 0 && len(do.reach) == 0 {
		return do, gone
	}
	return do, fine
}

// said makes a plan come true, with the id and place the hub gave the message.
func (m *model) said(do plan, by, words, key string, posted parley.Message) {
	p, r := m.peer(by), do.room
	if do.fresh {
		r.id = posted.Conversation
		m.rooms = append(m.rooms, r)
	}
	for _, id := range do.joins {
		r.members[id] = r.last()
	}
	s := &note{
		id: posted.ID, seq: posted.Seq, from: p.id, text: words, at: m.now, in: r, reach: do.reach, pairs: map[string]int64{},
	}
	for id := range do.reach {
		m.pairs[[2]string{p.id, id}]++
		s.pairs[id] = m.pairs[[2]string{p.id, id}]
	}
	r.said = append(r.said, s)
	r.changed, r.archived = m.now, do.answered
	if key != "" {
		m.keys[[2]string{p.id, key}] = s
	}
}

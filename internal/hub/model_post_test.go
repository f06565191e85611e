package hub_test

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// words is a draft with the participants that its text names.
type words struct {
	parley.Draft
	lead     string // the id at the beginning of the text
	mentions []string
}

// plan holds the effects of a post.
type plan struct {
	again    *note // the earlier message with the same key
	parent   *note
	room     *room
	fresh    bool // the post creates the conversation
	joins    []string
	reach    map[string]bool
	notices  int
	answered bool
}

// post returns the effects of a post, and changes nothing.
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
	do.parent = parent
	do.answered = do.room.kind == parley.Ephemeral && parent != nil && do.room.creator != p.id
	if asker := m.peer(do.room.creator); do.answered && asker != nil && asker.person && !asker.removed {
		do.answered = false // a person must see the answer first
	}
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
		if sender := m.peer(s.from); d.To == "" && sender != nil && sender != p && !sender.removed && s.in.in(sender) {
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
	if do.room, out = m.meant(p, d.Conversation); out != fine {
		return do, out
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
	calls, picked := false, false // picked: another member is mentioned
	if lead := m.peer(d.lead); lead != nil && !lead.removed && strings.EqualFold(lead.id, d.lead) && in(lead.id) {
		named[lead.id] = true
		picked = lead != p
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
			picked = picked || other != p
		default:
			told[other.id] = true
		}
	}
	do.notices = len(told)
	do.reach = map[string]bool{}
	wakes := d.Type.Wakes()
	byItself := r.fixed() && to != parley.All && (r.kind != parley.Group || p.person && !picked)
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

// said applies a plan, with the id and number that the hub gave the message.
func (m *model) said(do plan, by, words, key string, posted parley.Message) {
	p, r := m.peer(by), do.room
	if do.fresh {
		r.id = posted.Conversation
		m.rooms = append(m.rooms, r)
	}
	for _, id := range do.joins {
		r.members[id] = r.last()
	}
	s := &note{id: posted.ID, seq: posted.Seq, from: p.id, text: words, reach: do.reach, reply: do.parent != nil, settled: map[string]bool{}}
	m.keep(r, s)
	r.archived = do.answered
	if do.parent != nil {
		delete(do.parent.open, p.id)
		do.parent.settled[p.id] = true
	}
	if key != "" {
		m.keys[[2]string{p.id, key}] = s
	}
}

package hub_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// check compares a part of the hub with the model after every few steps.
func (x *machine) check(t *rapid.T) {
	x.steps++
	if x.steps%12 != 0 || len(x.model.rooms) == 0 {
		return
	}
	x.compareRoom(t, rapid.SampledFrom(x.model.rooms).Draw(t, "room to compare"))
	x.compareLists(t, rapid.SampledFrom(x.model.peers).Draw(t, "whose lists to compare"))
}

// compareAll compares everything in the hub with the model.
func (x *machine) compareAll(t *rapid.T) {
	var live []string
	for _, p := range x.model.peers {
		if !p.removed {
			live = append(live, p.id)
		}
		x.compareLists(t, p)
	}
	agents, err := x.w.Agents(ctx, user)
	x.w.NoError(err)
	same(t, "agents", ids(agents), append([]string{parley.System}, live...))
	for _, r := range x.model.rooms {
		x.compareRoom(t, r)
	}
}

// compareRoom compares the history of a conversation, its deliveries, and the participants that may read it.
func (x *machine) compareRoom(t *rapid.T, r *room) {
	for _, p := range x.model.peers {
		list, err := x.w.History(ctx, as(p.id), r.id, parley.Page{Limit: 1000})
		want := fine
		switch {
		case p.removed:
			want = denied
		case !r.readable(p):
			want = missing
		}
		x.expect(t, p.id+" reading", x.w.LastEventNumber(), err, want)
		if want == fine && p.owner {
			x.compareHistory(t, r, list)
		} else if want == fine {
			same(t, p.id+" reads", len(list), len(r.said))
		}
	}
	if len(r.said) == 0 {
		return
	}
	s := rapid.SampledFrom(r.said).Draw(t, "message to compare")
	shown, err := x.w.Message(ctx, user, s.id)
	if r.deleted {
		x.expect(t, "a message of a deleted room", x.w.LastEventNumber(), err, missing)
		return
	}
	x.w.NoError(err)
	same(t, "deliveries", wakesByRecipient(shown.Deliveries), s.reach)
	for _, d := range shown.Deliveries {
		same(t, "pair_seq", d.PairSeq, s.pairs[d.Recipient])
	}
}

func (x *machine) compareHistory(t *rapid.T, r *room, list []parley.Message) {
	var got, want []string
	for _, m := range list {
		got = append(got, m.ID+m.From+m.Content.Text)
		if !m.Intact() {
			t.Errorf("the checksum of %s does not hold", m.ID)
		}
	}
	for _, s := range r.said {
		want = append(want, s.id+s.from+s.text)
	}
	same(t, "history", got, want)
}

// row is a line of a list, as far as the model knows it.
type row struct {
	Name, Topic      string
	Members          []string
	Joined, Archived bool
	Unread           int
	Read, Last       int64
}

func (x *machine) compareLists(t *rapid.T, p *peer) {
	for _, f := range []parley.ListFilter{{}, {All: true}, {Archived: true}, {All: true, Ephemeral: true}, {All: true, Ephemeral: true, Archived: true}} {
		views, _, err := x.w.Conversations(ctx, as(p.id), f)
		if p.removed {
			x.expect(t, "a removed agent's list", x.w.LastEventNumber(), err, denied)
			return
		}
		x.w.NoError(err)
		got := map[string]row{}
		for i, v := range views {
			got[v.ID] = rowOf(v)
			if i > 0 && views[i-1].LastSeq < v.LastSeq {
				t.Errorf("the list is not by the newest message")
			}
		}
		same(t, fmt.Sprintf("%s's list %+v", p.id, f), got, x.listed(p, f))
	}
}

func rowOf(v parley.ConversationView) row {
	members := slices.Clone(v.Members)
	slices.Sort(members)
	return row{v.Name, v.Topic, members, v.Joined, v.ArchivedAt != nil, v.Unread, v.ReadSeq, v.LastSeq}
}

func (x *machine) listed(p *peer, f parley.ListFilter) map[string]row {
	rows := map[string]row{}
	for _, r := range x.model.rooms {
		if !r.readable(p) || !r.in(p) && !f.All || r.archived != f.Archived || r.kind == parley.Ephemeral && !f.Ephemeral {
			continue
		}
		line := row{Name: r.name, Topic: r.topic, Members: slices.Sorted(maps.Keys(r.members)), Archived: r.archived, Last: r.last()}
		if r.in(p) {
			line.Joined, line.Unread, line.Read = true, r.unread(p), r.members[p.id]
		}
		rows[r.id] = line
	}
	return rows
}

// TestHubMatchesTheModel compares random histories with the model.
func TestHubMatchesTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		x := newMachine(rt, stores.NewPlace(t))
		rt.Repeat(x.actions())
		x.compareAll(rt)
		x.w.AssertConsistent()
	})
}

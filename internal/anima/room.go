package anima

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// room is a conversation of the database, and what it is in the hub.
type room struct {
	id      string // there
	name    string
	created time.Time
	updated time.Time
	members map[string]time.Time // by their ids here, with when they have come
	there   parley.Conversation
	known   bool // the hub has it
	notice  string
}

// known is what the hub has, and what is added to it.
type known struct {
	agents map[string]string // ids by what they are called, folded
	ids    map[string]bool
	names  map[string]bool
	sets   map[string]string // ids by members
	added  map[string]bool   // of these sets
}

func newKnown(hub Hub) *known {
	k := &known{agents: map[string]string{}, ids: map[string]bool{}, names: map[string]bool{}, sets: map[string]string{}, added: map[string]bool{}}
	for _, a := range hub.Agents {
		if a.Kind != parley.KindSystem {
			k.agents[parley.Fold(a.ID)], k.agents[parley.Fold(a.Name)] = a.ID, a.ID
		}
	}
	for _, c := range hub.Conversations {
		k.ids[c.ID] = true
		switch {
		case c.Name != "":
			k.names[c.Name] = true
		case c.Kind == parley.DM || c.Kind == parley.Group:
			k.sets[parley.SetKey(c.Members)] = c.ID
		}
	}
	return k
}

// agent is the id here of somebody there: of who is called so in the hub, or a new one.
func (k *known) agent(name string) string {
	if id, there := k.agents[parley.Fold(name)]; there {
		return id
	}
	return agentID(name)
}

// readRooms reads conversations, and who has taken part in each: by the list of participants, and by what was said.
func (r *reader) readRooms(ctx context.Context) error {
	if _, err := messageTable.query(ctx, r.db); err != nil {
		return unreadable(noMessages(err))
	}
	err := r.each(ctx, roomTable, func(row []any) error {
		created := moment(row[2], time.Time{})
		room := r.room(text(row[0]), created)
		room.name, room.created, room.updated = text(row[1]), created, moment(row[3], created)
		return nil
	})
	if err == nil {
		err = r.each(ctx, memberTable, func(row []any) error {
			r.room(text(row[0]), time.Time{}).join(r.have.agent, text(row[1]), moment(row[2], time.Time{}))
			return nil
		})
	}
	if err == nil {
		err = r.each(ctx, messageTable, func(row []any) error {
			at := moment(row[5], time.Time{})
			room := r.room(text(row[0]), at)
			room.created = present(room.created, at)
			room.join(r.have.agent, text(row[1]), at)
			room.updated = latest(room.updated, at)
			return nil
		})
	}
	r.order = slices.SortedFunc(maps.Values(r.rooms), func(a, b *room) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	return err
}

func noMessages(err error) error {
	if err == parley.ErrNotFound { //nolint:errorlint // it is the error itself
		return parley.Errorf(parley.BadInput, "the database has no table messages").Suggest("give the conversations.db of Anima")
	}
	return err
}

// room is a conversation by its id there. One that no table lists begins with the first message.
func (r *reader) room(id string, at time.Time) *room {
	if found, ok := r.rooms[id]; ok {
		return found
	}
	made := &room{id: id, created: at, members: map[string]time.Time{}}
	r.rooms[id] = made
	return made
}

func (o *room) join(idOf func(string) string, name string, at time.Time) {
	if name == "" {
		return
	}
	id := idOf(name)
	if _, in := o.members[id]; !in {
		o.members[id] = at
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// writeAgents writes everybody who takes part. Who is in the hub already stays as it is there.
func (r *reader) writeAgents(context.Context) error {
	since := map[string]time.Time{}
	for _, room := range r.order {
		for id, at := range room.members {
			if at = present(at, room.created); since[id].IsZero() || at.Before(since[id]) {
				since[id] = at
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(since)) {
		if id == parley.Owner {
			continue
		}
		r.end.Agents++
		at := since[id]
		a := parley.Agent{ID: id, UUID: newID(at, "agent", id), Name: id, Kind: parley.KindAgent, CreatedAt: at, UpdatedAt: at, Profile: parley.DefaultProfile()}
		if err := r.out.Encode(line{Agent: &a}); err != nil {
			return err
		}
	}
	return nil
}

// present is the first of some times that is known. What has none is from the beginning of time.
func present(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Unix(0, 0).UTC()
}

func (r *reader) writeRooms(context.Context) error {
	for _, room := range r.order {
		r.have.place(room)
		if room.known {
			continue
		}
		r.end.Conversations++
		c := conversation{Conversation: room.there, Members: []member{}}
		for _, id := range slices.Sorted(maps.Keys(room.members)) {
			c.Members = append(c.Members, member{id, present(room.members[id], room.there.CreatedAt)})
		}
		if err := r.out.Encode(line{Conversation: &c}); err != nil {
			return err
		}
	}
	return nil
}

// place decides what a conversation is here. Nothing is opened to more readers than it had: what has a name is a private
// channel. Without a name it is the DM or the group of its members, of which there is one; a further one of two is ephemeral, as
// a single question is, and of more a channel.
func (k *known) place(o *room) {
	created := present(o.created)
	ids := slices.Sorted(maps.Keys(o.members))
	o.there = parley.Conversation{
		ID: newID(created, "conversation", o.id), Kind: parley.Channel, Visibility: parley.Private, CreatedBy: parley.Owner,
		CreatedAt: created, UpdatedAt: latest(created, o.updated),
	}
	o.known = k.ids[o.there.ID]
	set := parley.SetKey(ids)
	other, taken := k.sets[set]
	switch unnamed := o.name == "" && len(ids) > 1; {
	case o.known:
	case unnamed && taken && !k.added[set]:
		o.there.ID, o.known = other, true
		o.notice = fmt.Sprintf("conversation %q was added to the conversation of %v in the hub", o.id, ids)
	case unnamed && !taken:
		o.there.Kind = parley.Group
		if len(ids) == 2 {
			o.there.Kind = parley.DM
		}
		k.sets[set], k.added[set] = o.there.ID, true
	case unnamed && len(ids) == 2:
		o.there.Kind, o.there.ArchivedAt = parley.Ephemeral, &o.there.UpdatedAt
	default:
		o.there.Name = k.free(cmp.Or(slug(o.name), slug("anima-"+o.id), "anima"), o.there.ID)
		if o.there.Name != o.name {
			o.there.Topic = o.name
			o.notice = fmt.Sprintf("conversation %q is #%s in the hub", cmp.Or(o.name, o.id), o.there.Name)
		}
	}
}

// free is a name that nobody has.
func (k *known) free(name, id string) string {
	if k.names[name] || parley.CheckChannelName(name) != nil {
		name = marked(name, id)
	}
	k.names[name] = true
	return name
}

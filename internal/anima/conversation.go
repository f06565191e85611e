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

// sourceConversation is a conversation of the database, with its conversation in the hub.
type sourceConversation struct {
	id      string // in the database
	name    string
	created time.Time
	updated time.Time
	members map[string]time.Time // when members joined, by id in the hub
	target  parley.Conversation
	exists  bool // the hub already has it
	notice  string
}

// hubState has the agents and conversations of the hub, and the ones that the export adds.
type hubState struct {
	agents map[string]string // ids by folded name
	ids    map[string]bool
	names  map[string]bool
	sets   map[string]string // ids of conversations by members
	added  map[string]bool   // sets that the export added
}

func newHubState(hub Hub) *hubState {
	h := &hubState{agents: map[string]string{}, ids: map[string]bool{}, names: map[string]bool{}, sets: map[string]string{}, added: map[string]bool{}}
	for _, a := range hub.Agents {
		if a.Kind != parley.KindSystem {
			h.agents[parley.Fold(a.ID)], h.agents[parley.Fold(a.Name)] = a.ID, a.ID
		}
	}
	for _, c := range hub.Conversations {
		h.ids[c.ID] = true
		switch {
		case c.Name != "":
			h.names[c.Name] = true
		case c.Kind == parley.DM || c.Kind == parley.Group:
			h.sets[parley.MemberSetKey(c.Members)] = c.ID
		}
	}
	return h
}

// agentID returns the id in the hub of a name in the database: that of the agent with this name, or a new one.
func (h *hubState) agentID(name string) string {
	if id, there := h.agents[parley.Fold(name)]; there {
		return id
	}
	return newAgentID(name)
}

// readConversations reads conversations and their members, both from the list of participants and from the messages.
func (r *reader) readConversations(ctx context.Context) error {
	if _, err := messageTable.query(ctx, r.db); err != nil {
		return readError(noMessagesError(err))
	}
	err := r.each(ctx, conversationTable, func(row []any) error {
		created := parseTime(row[2], time.Time{})
		conversation := r.conversation(textOf(row[0]), created)
		conversation.name, conversation.created, conversation.updated = textOf(row[1]), created, parseTime(row[3], created)
		return nil
	})
	if err == nil {
		err = r.each(ctx, memberTable, func(row []any) error {
			r.conversation(textOf(row[0]), time.Time{}).join(r.hub.agentID, textOf(row[1]), parseTime(row[2], time.Time{}))
			return nil
		})
	}
	if err == nil {
		err = r.each(ctx, messageTable, func(row []any) error {
			at := parseTime(row[5], time.Time{})
			conversation := r.conversation(textOf(row[0]), at)
			conversation.created = firstKnown(conversation.created, at)
			conversation.join(r.hub.agentID, textOf(row[1]), at)
			conversation.updated = latest(conversation.updated, at)
			return nil
		})
	}
	r.order = slices.SortedFunc(maps.Values(r.conversations), func(a, b *sourceConversation) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id))
	})
	return err
}

func noMessagesError(err error) error {
	if err == parley.ErrNotFound { //nolint:errorlint // it is the error itself
		return parley.Errorf(parley.BadInput, "the database has no table messages").Suggest("give the conversations.db of Anima")
	}
	return err
}

// conversation returns a conversation by its id in the database. A conversation that is not in the table begins with
// its first message.
func (r *reader) conversation(id string, at time.Time) *sourceConversation {
	if found, ok := r.conversations[id]; ok {
		return found
	}
	made := &sourceConversation{id: id, created: at, members: map[string]time.Time{}}
	r.conversations[id] = made
	return made
}

func (c *sourceConversation) join(idOf func(string) string, name string, at time.Time) {
	if name == "" {
		return
	}
	id := idOf(name)
	if _, in := c.members[id]; !in {
		c.members[id] = at
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// writeAgents writes all members. The import does not change an agent that the hub already has.
func (r *reader) writeAgents(context.Context) error {
	since := map[string]time.Time{}
	for _, conversation := range r.order {
		for id, at := range conversation.members {
			if at = firstKnown(at, conversation.created); since[id].IsZero() || at.Before(since[id]) {
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
		if err := r.out.Encode(exportLine{Agent: &a}); err != nil {
			return err
		}
	}
	return nil
}

// firstKnown returns the first time that is known, or the beginning of Unix time.
func firstKnown(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Unix(0, 0).UTC()
}

func (r *reader) writeConversations(context.Context) error {
	for _, conversation := range r.order {
		r.hub.assignTarget(conversation)
		if conversation.exists {
			continue
		}
		r.end.Conversations++
		c := exportConversation{Conversation: conversation.target, Members: []exportMember{}}
		for _, id := range slices.Sorted(maps.Keys(conversation.members)) {
			c.Members = append(c.Members, exportMember{id, firstKnown(conversation.members[id], conversation.target.CreatedAt)})
		}
		if err := r.out.Encode(exportLine{Conversation: &c}); err != nil {
			return err
		}
	}
	return nil
}

// assignTarget decides which conversation of the hub a conversation becomes. It must not get more readers than it had.
// With a name, it becomes a private channel. Without a name, it becomes the only DM or group of its members. Further
// conversations of the same members become ephemeral if there are two members, and channels if there are more.
func (h *hubState) assignTarget(o *sourceConversation) {
	created := firstKnown(o.created)
	ids := slices.Sorted(maps.Keys(o.members))
	o.target = parley.Conversation{
		ID: newID(created, "conversation", o.id), Kind: parley.Channel, Visibility: parley.Private, CreatedBy: parley.Owner,
		CreatedAt: created, UpdatedAt: latest(created, o.updated),
	}
	o.exists = h.ids[o.target.ID]
	set := parley.MemberSetKey(ids)
	other, taken := h.sets[set]
	switch unnamed := o.name == "" && len(ids) > 1; {
	case o.exists:
	case unnamed && taken && !h.added[set]:
		o.target.ID, o.exists = other, true
		o.notice = fmt.Sprintf("conversation %q was added to the conversation of %v in the hub", o.id, ids)
	case unnamed && !taken:
		o.target.Kind = parley.Group
		if len(ids) == 2 {
			o.target.Kind = parley.DM
		}
		h.sets[set], h.added[set] = o.target.ID, true
	case unnamed && len(ids) == 2:
		o.target.Kind, o.target.ArchivedAt = parley.Ephemeral, &o.target.UpdatedAt
	default:
		o.target.Name = h.freeName(cmp.Or(slug(o.name), slug("anima-"+o.id), "anima"), o.target.ID)
		if o.target.Name != o.name {
			o.target.Topic = o.name
			o.notice = fmt.Sprintf("conversation %q is #%s in the hub", cmp.Or(o.name, o.id), o.target.Name)
		}
	}
}

// freeName returns a name that no conversation has.
func (h *hubState) freeName(name, id string) string {
	if h.names[name] || parley.CheckChannelName(name) != nil {
		name = withSuffix(name, id)
	}
	h.names[name] = true
	return name
}

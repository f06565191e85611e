package storetest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// model is a simple store without a database. It holds the rows that one history has written, and continues the numbers at
// which that history began.
type model struct {
	agents         []parley.Agent
	conversations  []parley.Conversation
	members        map[string][]parley.Member
	messages       []parley.Message
	deliveries     map[string][]parley.Delivery
	runs           []parley.Run // oldest first
	deletedRuns    []parley.Run // runs of deleted conversations
	posts          map[string][]storage.RunPost
	outputs        map[string]string
	exchanges      map[[2]string]storage.Exchange
	waits          []parley.Wait // oldest first
	pairs          map[[2]string]int64
	heartbeats     map[[2]string]string // the newest heartbeat of each pair
	evicted        map[string]int64
	deletedInboxes map[string]parley.Inbox // counts of open deliveries in deleted conversations
	keys           map[[2]string]string
	events         []parley.Event
	audit          []parley.AuditEntry
	seq            int64 // the last number of a message or event
	auditNum       int64
	auditHash      string
}

func (m *model) clone() *model {
	c := *m
	c.agents, c.conversations = slices.Clone(m.agents), slices.Clone(m.conversations)
	c.messages, c.events, c.audit = slices.Clone(m.messages), slices.Clone(m.events), slices.Clone(m.audit)
	c.pairs, c.keys, c.heartbeats = maps.Clone(m.pairs), maps.Clone(m.keys), maps.Clone(m.heartbeats)
	c.deletedRuns = slices.Clone(m.deletedRuns)
	c.runs, c.posts, c.outputs = slices.Clone(m.runs), maps.Clone(m.posts), maps.Clone(m.outputs)
	c.exchanges, c.waits = maps.Clone(m.exchanges), slices.Clone(m.waits)
	c.evicted, c.deletedInboxes = maps.Clone(m.evicted), maps.Clone(m.deletedInboxes)
	c.members, c.deliveries = map[string][]parley.Member{}, map[string][]parley.Delivery{}
	for id, list := range m.members {
		c.members[id] = slices.Clone(list)
	}
	for id, list := range m.deliveries {
		c.deliveries[id] = slices.Clone(list)
	}
	return &c
}

// agent returns the index of the agent with an id, uuid or name, or -1.
func (m *model) agent(name string) int {
	folded := parley.Fold(name)
	return slices.IndexFunc(m.agents, func(a parley.Agent) bool {
		return slices.Contains([]string{parley.Fold(a.ID), parley.Fold(a.UUID), parley.Fold(a.Name)}, folded)
	})
}

func (m *model) addAgent(a parley.Agent) error {
	for _, name := range []string{a.ID, a.UUID, a.Name} {
		if m.agent(name) >= 0 {
			return parley.ErrTaken
		}
	}
	m.agents = append(m.agents, a)
	return nil
}

func (m *model) changeAgent(a parley.Agent) error {
	i := slices.IndexFunc(m.agents, func(b parley.Agent) bool { return a.ID == b.ID })
	if i < 0 {
		return parley.ErrNotFound
	}
	if owner := m.agent(a.Name); owner >= 0 && owner != i {
		return parley.ErrTaken
	}
	m.agents[i] = a
	return nil
}

func (m *model) conversation(id string) int {
	return slices.IndexFunc(m.conversations, func(c parley.Conversation) bool { return c.ID == id })
}

func (m *model) addConversation(c parley.Conversation) error {
	if m.agent(c.CreatedBy) < 0 {
		return parley.ErrNotFound
	}
	if slices.ContainsFunc(m.conversations, func(o parley.Conversation) bool {
		return c.Name != "" && c.Name == o.Name || c.Set != "" && c.Set == o.Set
	}) {
		return parley.ErrTaken
	}
	m.conversations = append(m.conversations, c)
	return nil
}

func (m *model) renameConversation(id, name string) error {
	i := m.conversation(id)
	if i < 0 {
		return parley.ErrNotFound
	}
	if slices.ContainsFunc(m.conversations, func(o parley.Conversation) bool { return o.ID != id && o.Name == name }) {
		return parley.ErrTaken
	}
	m.conversations[i].Name = name
	return nil
}

func (m *model) deleteConversation(id string) error {
	i := m.conversation(id)
	if i < 0 {
		return parley.ErrNotFound
	}
	m.conversations = slices.Delete(m.conversations, i, i+1)
	delete(m.members, id)
	for _, msg := range m.messages {
		if msg.Conversation == id {
			m.deleteDeliveries(msg.ID)
		}
	}
	m.deleteRuns(id)
	m.deleteWaits(id)
	m.messages = slices.DeleteFunc(m.messages, func(msg parley.Message) bool { return msg.Conversation == id })
	m.events = slices.DeleteFunc(m.events, func(e parley.Event) bool { return e.Conversation == id })
	return nil
}

func (m *model) putMember(member parley.Member) error {
	if m.conversation(member.Conversation) < 0 || m.agent(member.Agent) < 0 {
		return parley.ErrNotFound
	}
	list := m.members[member.Conversation]
	list = slices.DeleteFunc(list, func(o parley.Member) bool { return o.Agent == member.Agent })
	list = append(list, member)
	slices.SortFunc(list, func(a, b parley.Member) int {
		return cmp.Or(a.JoinedAt.Compare(b.JoinedAt), cmp.Compare(m.agent(a.Agent), m.agent(b.Agent)))
	})
	m.members[member.Conversation] = list
	return nil
}

func (m *model) removeMember(conversation, agent string) error {
	list := m.members[conversation]
	i := slices.IndexFunc(list, func(o parley.Member) bool { return o.Agent == agent })
	if i < 0 {
		return parley.ErrNotFound
	}
	m.members[conversation] = slices.Delete(list, i, i+1)
	return nil
}

func (m *model) post(msg parley.Message) error {
	i := m.conversation(msg.Conversation)
	if i < 0 || m.agent(msg.From) < 0 || msg.To != "" && msg.To != parley.All && m.agent(msg.To) < 0 {
		return parley.ErrNotFound
	}
	m.messages = append(m.messages, msg)
	m.append(parley.Event{
		At: msg.CreatedAt, Kind: parley.EventMessagePosted, Conversation: msg.Conversation, Agent: msg.From, By: msg.From, Message: msg.ID,
	})
	c := &m.conversations[i]
	c.Messages, c.LastSeq, c.UpdatedAt = c.Messages+1, msg.Seq, msg.CreatedAt
	if msg.IdempotencyKey != "" {
		m.keys[[2]string{msg.From, msg.IdempotencyKey}] = msg.ID
	}
	return nil
}

func (m *model) deliver(msg parley.Message, to []parley.NewDelivery) error {
	stored := slices.ContainsFunc(m.messages, func(o parley.Message) bool { return o.ID == msg.ID })
	if !stored || slices.ContainsFunc(to, func(r parley.NewDelivery) bool { return m.agent(r.Agent) < 0 }) {
		return parley.ErrNotFound
	}
	list := slices.Clone(m.deliveries[msg.ID])
	for _, reach := range to {
		if slices.ContainsFunc(list, func(d parley.Delivery) bool { return d.Recipient == reach.Agent }) {
			return parley.ErrTaken
		}
		list = append(list, parley.Delivery{
			Message: msg.ID, Seq: msg.Seq, Conversation: msg.Conversation, From: msg.From, Recipient: reach.Agent,
			State: parley.DeliveryAccepted, Waking: reach.Wakes, Purpose: reach.Purpose, Priority: msg.Priority,
			ExpiresAt: msg.ExpiresAt, Deadline: msg.Deadline, AcceptedAt: msg.CreatedAt,
			PairSeq: cmp.Or(reach.Sequence, m.pairs[[2]string{msg.From, reach.Agent}]+1),
		})
	}
	for _, reach := range to {
		pair := [2]string{msg.From, reach.Agent}
		if m.pairs[pair]++; reach.Sequence > 0 {
			m.pairs[pair] = reach.Sequence
		}
		if msg.Type == parley.TypeHeartbeat {
			m.heartbeats[pair] = msg.ID
		}
	}
	slices.SortFunc(list, func(a, b parley.Delivery) int { return cmp.Compare(m.agent(a.Recipient), m.agent(b.Recipient)) })
	m.deliveries[msg.ID] = list
	return nil
}

func (m *model) append(e parley.Event) {
	m.seq++
	e.Num = m.seq
	m.events = append(m.events, e)
}

func (m *model) auditEntry(e parley.AuditEntry) {
	m.auditNum++
	e.Num = m.auditNum
	e.Hash = e.Chain(m.auditHash)
	m.auditHash = e.Hash
	m.audit = append(m.audit, e)
}

// contents returns the model in the form of a store's dump.
func (m *model) contents() contents {
	all := contents{
		Agents: m.agents, Conversations: slices.Clone(m.conversations), Messages: m.messages, Events: m.events, Audit: m.audit,
		Members: map[string][]parley.Member{}, Deliveries: map[string][]parley.Delivery{}, Inboxes: map[string]parley.Inbox{},
		NextSeq: m.seq + 1,
	}
	for _, a := range m.agents {
		all.Inboxes[a.ID] = m.inbox(a.ID)
	}
	slices.SortFunc(all.Conversations, func(a, b parley.Conversation) int {
		return cmp.Or(cmp.Compare(b.LastSeq, a.LastSeq), strings.Compare(b.ID, a.ID))
	})
	for _, c := range m.conversations {
		all.Members[c.ID] = m.members[c.ID]
	}
	for _, msg := range m.messages {
		all.Deliveries[msg.ID] = m.deliveries[msg.ID]
	}
	m.fillRuns(&all)
	m.fillWaits(&all)
	return all
}

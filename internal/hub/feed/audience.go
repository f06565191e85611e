package feed

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// audienceOf returns who may see an event, as a rule that does not depend on the store.
func audienceOf(e parley.Event) unit.EventAudience {
	switch {
	case e.Kind == parley.EventCursorMoved:
		return unit.EventAudience{Readers: e.Conversation, Only: e.Agent}
	case e.Kind == parley.EventMemberLeft:
		return unit.EventAudience{Readers: e.Conversation, Also: e.Agent} // the removed member gets the event too, though it can no longer read the conversation
	case e.Kind.Within("run"), e.Kind == parley.EventPermission:
		return unit.EventAudience{Also: e.Agent}
	case e.Kind.Within("task"), e.Kind.Within("approval"):
		return audienceOfWork(e)
	case e.Kind.Within("note") && e.Conversation == "":
		return unit.EventAudience{Also: e.Agent} // a private note
	case e.Conversation != "":
		return unit.EventAudience{Readers: e.Conversation}
	case e.Kind.Within("agent"), e.Kind.Within("session"):
		return unit.EventAudience{Everybody: true} // everybody may see the agents and what they do
	case e.Kind.Within("token"):
		return unit.EventAudience{Also: e.Agent}
	default:
		return unit.EventAudience{}
	}
}

// MaySee reports whether the caller may see an event. readable caches which conversations the caller may read.
func MaySee(u *unit.Unit, e parley.Event, readable map[string]bool) (bool, error) {
	c := audienceOf(e)
	switch {
	case u.SeesAll(), c.Everybody, c.Also == u.Me.ID:
		return true, nil
	case c.Task != "", c.Approval != "":
		concerned, err := participantsOf(u.Tx, c)
		return slices.Contains(concerned, u.Me.ID), err
	case c.Readers == "", c.Only != "" && c.Only != u.Me.ID:
		return false, nil
	}
	if see, ok := readable[c.Readers]; ok {
		return see, nil
	}
	_, err := conversations.Conversation(u, c.Readers)
	if _, hidden := errors.AsType[unit.Unknown](err); err != nil && !hidden {
		return false, err
	}
	readable[c.Readers] = err == nil
	return err == nil, nil
}

// recipients are the participants that get an event. Owners get every event and are not listed.
type recipients struct {
	everybody bool
	agents    []string
}

func (h recipients) has(agent string) bool { return h.everybody || slices.Contains(h.agents, agent) }

// recipientsOf returns all participants that may see an event, by the same rule as MaySee. readers caches who may read which
// conversation.
func recipientsOf(tx storage.Tx, e parley.Event, readers map[string]recipients) (recipients, error) {
	c := audienceOf(e)
	if c.Task != "" || c.Approval != "" {
		concerned, err := participantsOf(tx, c)
		return recipients{agents: concerned}, err
	}
	found, known := readers[c.Readers]
	if !known && c.Readers != "" {
		var err error
		if found, err = readersOf(tx, c.Readers); err != nil {
			return recipients{}, err
		}
		readers[c.Readers] = found
	}
	switch {
	case c.Everybody, found.everybody && c.Only == "":
		return recipients{everybody: true}, nil
	case c.Only != "" && found.has(c.Only):
		return recipients{agents: []string{c.Only}}, nil
	case c.Only != "":
		return recipients{}, nil
	case c.Also != "":
		return recipients{agents: append(slices.Clip(found.agents), c.Also)}, nil
	default:
		return found, nil
	}
}

// readersOf returns who may read a conversation: nobody if it was deleted.
func readersOf(tx storage.Tx, id string) (recipients, error) {
	c, err := tx.Conversations().Find(id)
	switch {
	case errors.Is(err, parley.ErrNotFound):
		return recipients{}, nil
	case err != nil || c.ReadableByAll():
		return recipients{everybody: true}, err
	case c.FixedMembers():
		return recipients{agents: c.FixedMemberIDs()}, nil
	}
	members, err := tx.Members().List(id)
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.Agent
	}
	return recipients{agents: ids}, err
}

// audienceOfWork returns who may see an event about a task or an approval. The event's data names it. If the data names
// nothing, only owners see the event.
func audienceOfWork(e parley.Event) unit.EventAudience {
	var about struct{ Task, Approval string }
	if json.Unmarshal(e.Data, &about) != nil {
		return unit.EventAudience{}
	}
	if e.Kind.Within("task") {
		return unit.EventAudience{Task: about.Task}
	}
	return unit.EventAudience{Approval: about.Approval}
}

// participantsOf returns the participants of a task or an approval, without owners. It returns nobody if the approval was
// deleted.
func participantsOf(tx storage.Tx, c unit.EventAudience) ([]string, error) {
	if c.Task != "" {
		return participantsOfTask(tx, c.Task)
	}
	a, err := tx.Approvals().Get(c.Approval)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	return []string{a.Agent, a.Decider}, err
}

// participantsOfTask returns who may see a task: the requesters and assignees of the task and of its parent tasks.
func participantsOfTask(tx storage.Tx, id string) (list []string, err error) {
	for id != "" {
		found, err := tx.Tasks().GetAll([]string{id})
		if err != nil || len(found) == 0 {
			return list, err
		}
		for _, agent := range []string{found[0].Requester, found[0].Assignee} {
			if !slices.Contains(list, agent) {
				list = append(list, agent)
			}
		}
		id = found[0].Parent
	}
	return list, nil
}

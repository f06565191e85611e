package hub

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// LastEvent is the number of the newest event: where somebody begins who only wants what comes.
func (h *Hub) LastEvent(ctx context.Context, caller Caller) (newest int64, err error) {
	err = h.view(ctx, caller, opFollowEvents, func(s *scene) error {
		_, newest, err = s.Log().Bounds()
		return err
	})
	return newest, err
}

// circle is whom an event is for, beside owners and the hub itself, who see everything.
type circle struct {
	everybody bool
	readers   string // those who may read this conversation
	only      string // of these, only this participant
	also      string // this participant in any case
	task      string // those who may see this task
	approval  string // whose call this is, and who decides it
}

// circleOf is the rule by which events are cut to their readers' rights.
func circleOf(e parley.Event) circle {
	switch {
	case e.Kind == parley.EventCursorMoved:
		return circle{readers: e.Conversation, only: e.Agent}
	case e.Kind == parley.EventMemberLeft:
		return circle{readers: e.Conversation, also: e.Agent} // it is told, though it cannot read on
	case e.Kind.Within("run"), e.Kind == parley.EventPermission:
		return circle{also: e.Agent}
	case e.Kind.Within("task"), e.Kind.Within("approval"):
		return circleOfWork(e)
	case e.Conversation != "":
		return circle{readers: e.Conversation}
	case e.Kind.Within("agent"):
		return circle{everybody: true} // the list of agents, and what each is doing, is everybody's
	case e.Kind.Within("token"):
		return circle{also: e.Agent}
	default:
		return circle{}
	}
}

// unsettles says whether somebody may see less after an event than before it: its participant, or,
// if it names none, anybody.
func unsettles(e parley.Event) bool {
	switch e.Kind {
	case parley.EventMemberLeft, parley.EventAgentChanged, parley.EventAgentRemoved, parley.EventConversationDeleted:
		return true
	default:
		return false
	}
}

// maySee says whether an event is for the caller. readable remembers conversations looked at.
func (s *scene) maySee(e parley.Event, readable map[string]bool) (bool, error) {
	c := circleOf(e)
	switch {
	case s.seesAll(), c.everybody, c.also == s.me.ID:
		return true, nil
	case c.task != "", c.approval != "":
		concerned, err := concernedIn(s.Tx, c)
		return slices.Contains(concerned, s.me.ID), err
	case c.readers == "", c.only != "" && c.only != s.me.ID:
		return false, nil
	}
	if see, ok := readable[c.readers]; ok {
		return see, nil
	}
	_, err := s.conversation(c.readers)
	if _, hidden := errors.AsType[unknown](err); err != nil && !hidden {
		return false, err
	}
	readable[c.readers] = err == nil
	return err == nil, nil
}

// hearers are those an event is for, beside those who see everything.
type hearers struct {
	everybody bool
	agents    []string
}

func (h hearers) has(agent string) bool { return h.everybody || slices.Contains(h.agents, agent) }

// hearersOf is maySee for all participants at once. readers remembers conversations looked at.
func hearersOf(tx parley.Tx, e parley.Event, readers map[string]hearers) (hearers, error) {
	c := circleOf(e)
	if c.task != "" || c.approval != "" {
		concerned, err := concernedIn(tx, c)
		return hearers{agents: concerned}, err
	}
	found, known := readers[c.readers]
	if !known && c.readers != "" {
		var err error
		if found, err = readersOf(tx, c.readers); err != nil {
			return hearers{}, err
		}
		readers[c.readers] = found
	}
	switch {
	case c.everybody, found.everybody && c.only == "":
		return hearers{everybody: true}, nil
	case c.only != "" && found.has(c.only):
		return hearers{agents: []string{c.only}}, nil
	case c.only != "":
		return hearers{}, nil
	case c.also != "":
		return hearers{agents: append(slices.Clip(found.agents), c.also)}, nil
	default:
		return found, nil
	}
}

// readersOf are those who may read a conversation. What is gone has none.
func readersOf(tx parley.Tx, id string) (hearers, error) {
	c, err := tx.Conversations().Find(id)
	switch {
	case errors.Is(err, parley.ErrNotFound):
		return hearers{}, nil
	case err != nil || c.ReadableByAll():
		return hearers{everybody: true}, err
	case c.FixedMembers():
		return hearers{agents: c.SetMembers()}, nil
	}
	members, err := tx.Members().List(id)
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.Agent
	}
	return hearers{agents: ids}, err
}

// mustReach returns E003 if the log does not reach back, or forward, to a number.
func mustReach(after, oldest, newest int64) error {
	var err *parley.Error
	switch {
	case after+1 >= oldest && after <= newest:
		return nil
	case oldest > newest:
		err = parley.Errorf(parley.BadInput, "of the log of events nothing is left up to %d, so it does not go on from %d", newest, after)
	default:
		err = parley.Errorf(parley.BadInput, "the log of events goes from %d to %d, not on from %d", oldest, newest, after)
	}
	return err.Because(parley.NotFound).Suggest("read the present state, and follow from %d", newest)
}

func sortBySeq(list []parley.Message) {
	slices.SortFunc(list, func(a, b parley.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}

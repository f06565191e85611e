package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

// available says why a participant cannot be contacted now in some way, or nil. People always can, and everybody can
// be left a note.
func (s *scene) available(target parley.Agent, how parley.Pattern) error {
	if how == parley.PatternNotify || target.Kind != parley.KindAgent {
		return nil
	}
	status, _ := s.status(target, 0, parley.Awaiting{})
	offline := status.Status == parley.StatusOffline
	switch {
	case how == parley.PatternDelegate && offline && status.Reason == parley.ReasonStopped:
		return parley.Errorf(parley.Unavailable, "%s is offline and cannot take work. Use 'notify' to leave a message.", target.Name)
	case how == parley.PatternDelegate:
		return nil
	case offline:
		return parley.Errorf(parley.Unavailable, "%s is offline and cannot be asked. Use 'notify' to leave a message.", target.Name)
	case target.Paused.Holds(s.now):
		return parley.Errorf(parley.Unavailable, "%s is paused and cannot be asked. Use 'delegate' to have it work on this later.", target.Name)
	}
	over, err := s.excesses(target)
	if err != nil || len(over) == 0 {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%s is over budget (%s) and cannot be asked. Use 'delegate' to have it work on this later.",
		target.Name, over[0].says)
}

// errTooManyHops tells a contact that was refused for the length of its chain, of which a person is told.
var errTooManyHops = errors.New("too many hops")

// checkHops refuses a contact at the end of too long a chain of automatic messages.
func (s *scene) checkHops(o origin) error {
	hops, most := o.hops()+1, s.hub.config.Loops.Hops
	if s.me.Kind != parley.KindAgent || hops <= most {
		return nil
	}
	return parley.Errorf(parley.DependencyFailed, "%d automatic messages in a row have led to this, and nobody is contacted after more than %d", hops, most).
		From(errTooManyHops).Suggest("let a person go on with it")
}

// tellHops tells the people responsible that a chain of automatic messages was ended: once for each run.
func (h *Hub) tellHops(ctx context.Context, caller Caller, why *parley.Error) {
	key := "hops " + caller.Run
	err := h.write(ctx, theHub, opItself, func(s *scene) error {
		_, err := s.Messages().Keyed(parley.System, key, s.now.Add(-keyMemory))
		if !errors.Is(err, parley.ErrNotFound) {
			return err // they were told
		}
		a, err := s.Agents().Find(caller.Agent)
		if err != nil {
			return err
		}
		return s.tellHops(a, key, why)
	})
	if err != nil {
		h.config.Log.Error("people could not be told of a chain of messages that was ended", "agent", caller.Agent, "error", err)
	}
}

func (s *scene) tellHops(a parley.Agent, key string, why *parley.Error) error {
	people, err := s.responsible(a)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"name": "hops", "state": "on", "agent": a.ID, "error": why})
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: parley.EventAlert, Agent: a.ID, Data: data})
	text := parley.Wording{}.Name(a.ID, a.Name).Own(" could not contact anybody: ").Quote("", why.Plain()).
		Own(missingStop(why.Message) + " Look at what they are about, and go on with it yourself.")
	for _, person := range people {
		if err := s.notify(person, text, data, key); err != nil {
			return err
		}
	}
	return s.tellPeople(people, parley.Notice{
		Key: key, Kind: parley.NoticeAlert, Title: a.Name + " is at the end of a long chain of messages", Text: text.Text,
	})
}

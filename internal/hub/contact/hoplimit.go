package contact

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// reportHopLimit tells the responsible people, once for each run, that the hub has ended a chain of automatic messages.
func reportHopLimit(ctx context.Context, core *unit.Core, caller unit.Caller, why *parley.Error) {
	key := "hops " + caller.Run
	err := core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		_, err := u.Messages().FindByKey(parley.System, key, u.Now.Add(-unit.KeyMemory))
		if !errors.Is(err, parley.ErrNotFound) {
			return err // they know already
		}
		a, err := u.Agents().Find(caller.Agent)
		if err != nil {
			return err
		}
		return notifyHopLimit(u, a, key, why)
	})
	if err != nil {
		core.Config.Log.Error("cannot notify people that the hub ended a chain of messages; retrying with the next call that the hub refuses in the run", "agent", caller.Agent, "error", err)
	}
}

func notifyHopLimit(u *unit.Unit, a parley.Agent, key string, why *parley.Error) error {
	people, err := agents.Responsible(u, a)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"name": "hops", "state": "on", "agent": a.ID, "error": why})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventAlert, Agent: a.ID, Data: data})
	text := parley.Wording{}.Name(a.ID, a.Name).Own(" could not contact another agent: ").Quote("", why.Plain()).
		Own(unit.MissingStop(why.Message) + " Read these messages, and continue the work yourself.")
	for _, person := range people {
		if err := reports.PostNotification(u, person, text, data, key); err != nil {
			return err
		}
	}
	return notices.TellPeople(u, people, parley.Notice{
		Key: key, Kind: parley.NoticeAlert, Title: a.Name + " is at the end of a long chain of messages", Text: text.Text,
	})
}

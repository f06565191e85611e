package bridges

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// failedRuns are the runs that have failed in the channels of a tree, after a number of the order. Who has read nothing yet is told
// where to begin: what has failed before is no news.
func failedRuns(u *unit.Unit, b parley.Bridge, after, oldest, newest int64) (found parley.BridgeTasks, err error) {
	if after <= 0 {
		return parley.BridgeTasks{UpTo: newest}, nil
	}
	events, found, err := eventsSince(u, max(after, oldest-1), newest)
	for _, e := range events {
		if err != nil {
			return found, err
		}
		if e.Kind == parley.EventRun(parley.RunFailed) || e.Kind == parley.EventRun(parley.RunLost) {
			found.FailedRuns, err = addFailedRun(u, b, found.FailedRuns, e)
		}
	}
	return found, err
}

// addFailedRun adds the run that an event is about, if it was in a channel of a tree. One that is gone by now is left out.
func addFailedRun(u *unit.Unit, b parley.Bridge, list []parley.FailedRun, e parley.Event) ([]parley.FailedRun, error) {
	var about struct{ Run, Conversation string }
	if json.Unmarshal(e.Data, &about) != nil {
		return list, nil
	}
	c, err := u.Conversations().Find(about.Conversation)
	if err != nil || c.Kind != parley.Channel || !b.Maps(c.Name) || c.Visibility != parley.Public && !slices.Contains(b.Channels, c.Name) {
		return list, unit.IgnoreNotFound(err)
	}
	r, err := u.Runs().Get(about.Run)
	if err != nil {
		return list, unit.IgnoreNotFound(err)
	}
	name, err := triggerName(u, b, r)
	return append(list, parley.FailedRun{
		Run: r.ShortName(), Agent: r.Agent, Channel: c.Name, Attempt: r.Attempt, At: e.At, Name: name, Error: r.Failure,
	}), err
}

// triggerName is the name, in a tree, of the newest document there that has woken a run, or nothing.
func triggerName(u *unit.Unit, b parley.Bridge, r parley.Run) (string, error) {
	for _, id := range slices.Backward(r.Triggers) {
		file, err := u.Bridges().Came(b.ID, id)
		if err == nil {
			return file.Name, nil
		}
		row := storage.DepartureRow{}
		if errors.Is(err, parley.ErrNotFound) {
			row, err = u.Bridges().Departure(b.ID, id, "")
		}
		if err = unit.IgnoreNotFound(err); err != nil || row.Name != "" {
			return row.Name, err
		}
	}
	return "", nil
}

package bridges

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// failedRuns returns the runs that failed in the channels of a tree after a number of the event log. The first call returns
// only where to begin.
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

// addFailedRun adds the run of an event if it was in a channel of the tree. It skips a run that was removed.
func addFailedRun(u *unit.Unit, b parley.Bridge, list []parley.FailedRun, e parley.Event) ([]parley.FailedRun, error) {
	var about struct{ Run, Conversation string }
	if json.Unmarshal(e.Data, &about) != nil {
		return list, nil
	}
	c, err := u.Conversations().Find(about.Conversation)
	if err != nil || c.Kind != parley.Channel || !b.HasChannel(c.Name) || c.Visibility != parley.Public && !slices.Contains(b.Channels, c.Name) {
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

// triggerName returns the name in the tree of the newest document that woke a run, or "".
func triggerName(u *unit.Unit, b parley.Bridge, r parley.Run) (string, error) {
	for _, id := range slices.Backward(r.Triggers) {
		file, err := u.Bridges().FileOfMessage(b.ID, id)
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

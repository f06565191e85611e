package bridges

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	defaultDepartures = 100
	maxDepartures     = 500
	maxWait           = 50 * time.Second // that is waited for
)

// Departures returns what the bridge must write into its tree, or with q.Written the files that were written and that nobody
// has taken as far as the hub knows. A departure is returned again, under the same name, until the bridge reports on it.
func (b bridgeAPI) Departures(ctx context.Context, id string, q parley.DepartureQuery) ([]parley.Departure, error) {
	after, err := checkDepartures(&q)
	if err != nil {
		return nil, err
	}
	if q.Written {
		return writtenDepartures(ctx, b.hub.Core, b.caller, id, after, q.Limit)
	}
	return awaitDepartures(ctx, b.hub.Core, b.caller, departures.Search{BridgeID: id, Query: q, After: after})
}

// checkDepartures fills in the defaults of a query and returns the number after which it begins.
func checkDepartures(q *parley.DepartureQuery) (after int64, err error) {
	if q.Wait < 0 {
		return 0, parley.Errorf(parley.BadInput, "the wait is %s", q.Wait).Suggest("wait 0s or longer")
	}
	q.Limit, q.Wait = unit.Clamp(q.Limit, defaultDepartures, maxDepartures), min(q.Wait, maxWait)
	if q.After == "" {
		return 0, nil
	}
	return departures.ParseID(q.After)
}

// awaitDepartures returns the departures that are due, or waits for one.
func awaitDepartures(ctx context.Context, core *unit.Core, caller unit.Caller, d departures.Search) ([]parley.Departure, error) {
	sign, leave, err := watchDepartures(ctx, core, caller, d)
	if err != nil {
		return nil, err
	}
	defer leave()
	end := time.NewTimer(d.Query.Wait)
	defer end.Stop()
	for {
		list, err := listDepartures(ctx, core, caller, d)
		if err != nil || len(list) > 0 || d.Query.Wait == 0 {
			return list, err
		}
		select {
		case <-sign:
		case <-time.After(inbox.PollInterval):
		case <-end.C:
			return nil, nil
		case <-ctx.Done():
			return nil, core.Explain(ctx, caller, ctx.Err())
		}
	}
}

// watchDepartures returns a channel that signals when there may be new departures: a delivery for an agent in the tree, or a
// post in a mapped channel.
func watchDepartures(ctx context.Context, core *unit.Core, caller unit.Caller, d departures.Search) (sign <-chan struct{}, leave func(), err error) {
	var about []string
	err = core.View(ctx, caller, unit.OpListDepartures, func(u *unit.Unit) error {
		if err := d.LoadBridge(u); err != nil || d.Query.Wait == 0 {
			return err
		}
		about = slices.Clone(d.Bridge.Agents)
		for _, name := range d.Channels() {
			c, err := u.Conversations().Find(name)
			if err = unit.IgnoreNotFound(err); err != nil {
				return err
			}
			about = append(about, c.ID)
		}
		return nil
	})
	sign, leave = core.Watches.Join(about...)
	return sign, leave, err
}

// listDepartures returns the departures that are due. It runs an update only if there is something to write.
func listDepartures(ctx context.Context, core *unit.Core, caller unit.Caller, d departures.Search) ([]parley.Departure, error) {
	for {
		var seen departures.Search
		search := func(writes bool) func(*unit.Unit) error {
			return func(u *unit.Unit) error {
				seen = d
				seen.MayWrite = writes
				return seen.Run(u)
			}
		}
		if err := core.View(ctx, caller, unit.OpListDepartures, search(false)); err != nil || !seen.NeedsUpdate {
			return seen.Found, err
		}
		if err := core.Write(ctx, caller, unit.OpListDepartures, search(true)); err != nil || len(seen.Found) > 0 {
			return seen.Found, err
		}
	}
}

// writtenDepartures returns departures whose files are in place as far as the hub knows.
func writtenDepartures(ctx context.Context, core *unit.Core, caller unit.Caller, id string, after int64, limit int) (list []parley.Departure, err error) {
	err = core.View(ctx, caller, unit.OpListDepartures, func(u *unit.Unit) error {
		if _, err := trees.Bridge(u, id); err != nil {
			return err
		}
		rows, err := u.Bridges().Departures(id, parley.DepartureWritten, after, limit)
		for _, row := range rows {
			list = append(list, parley.Departure{
				ID: strconv.FormatInt(row.Num, 10), Name: row.Name, Message: parley.Message{ID: row.Message}, Recipient: row.Recipient, Written: true,
			})
		}
		return err
	})
	return list, err
}

// Report applies reports on departures. A departure in a later state stays as it is.
func (b bridgeAPI) Report(ctx context.Context, id string, reports []parley.DepartureReport) error {
	for part := range slices.Chunk(reports, maxDepartures) {
		err := b.hub.Write(ctx, b.caller, unit.OpReportDepartures, func(u *unit.Unit) error {
			bridge, err := trees.Bridge(u, id)
			for _, r := range part {
				if err == nil {
					err = departures.ApplyReport(u, bridge, r)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package hub

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
)

const (
	defaultDepartures = 100
	mostDepartures    = 500
	longestDeparture  = 50 * time.Second // that is waited for
)

// Departures returns what is to be written into the tree of a bridge, or with q.Written what was written and is not known
// to be gone. What is returned and not reported on is returned again, under the same name.
func (b bridgeDoor) Departures(ctx context.Context, id string, q parley.DepartureQuery) ([]parley.Departure, error) {
	after, err := checkDepartures(&q)
	if err != nil {
		return nil, err
	}
	if q.Written {
		return b.hub.written(ctx, b.caller, id, after, q.Limit)
	}
	return b.hub.awaitDepartures(ctx, b.caller, departing{id: id, query: q, after: after})
}

// checkDepartures fills in what a query leaves out, and returns the number after which it begins.
func checkDepartures(q *parley.DepartureQuery) (after int64, err error) {
	if q.Wait < 0 {
		return 0, parley.Errorf(parley.BadInput, "the wait is %s", q.Wait).Suggest("wait 0s or longer")
	}
	q.Limit, q.Wait = clamp(q.Limit, defaultDepartures, mostDepartures), min(q.Wait, longestDeparture)
	if q.After == "" {
		return 0, nil
	}
	return departureNum(q.After)
}

// departureNum is the number of a departure by its id.
func departureNum(id string) (int64, error) {
	num, err := strconv.ParseInt(id, 10, 64)
	if err != nil || num < 0 {
		return 0, parley.Errorf(parley.BadInput, "%q is no departure", id).Suggest("name one as it was given")
	}
	return num, nil
}

// awaitDepartures returns what is to be written now, or waits for it.
func (h *Hub) awaitDepartures(ctx context.Context, caller Caller, d departing) ([]parley.Departure, error) {
	sign, leave, err := h.watchDepartures(ctx, caller, d)
	if err != nil {
		return nil, err
	}
	defer leave()
	end := time.NewTimer(d.query.Wait)
	defer end.Stop()
	for {
		list, err := h.depart(ctx, caller, d)
		if err != nil || len(list) > 0 || d.query.Wait == 0 {
			return list, err
		}
		select {
		case <-sign:
		case <-time.After(takePoll):
		case <-end.C:
			return nil, nil
		case <-ctx.Done():
			return nil, h.explain(ctx, caller, ctx.Err())
		}
	}
}

// watchDepartures gives a sign when something may be to depart: it has come for somebody who lives in the tree, or was posted
// in a channel that is mapped.
func (h *Hub) watchDepartures(ctx context.Context, caller Caller, d departing) (sign <-chan struct{}, leave func(), err error) {
	var about []string
	err = h.view(ctx, caller, opListDepartures, func(s *scene) error {
		if err := d.enter(s); err != nil || d.query.Wait == 0 {
			return err
		}
		about = slices.Clone(d.bridge.Agents)
		for _, name := range d.channels() {
			c, err := s.Conversations().Find(name)
			if err = ignoreNotFound(err); err != nil {
				return err
			}
			about = append(about, c.ID)
		}
		return nil
	})
	sign, leave = h.watches.join(about...)
	return sign, leave, err
}

// depart looks what is to depart, and writes only where there is something to write.
func (h *Hub) depart(ctx context.Context, caller Caller, d departing) ([]parley.Departure, error) {
	for {
		var seen departing
		look := func(writes bool) func(*scene) error {
			return func(s *scene) error {
				seen = d
				seen.writes = writes
				return seen.look(s)
			}
		}
		if err := h.view(ctx, caller, opListDepartures, look(false)); err != nil || !seen.undone {
			return seen.list, err
		}
		if err := h.write(ctx, caller, opListDepartures, look(true)); err != nil || len(seen.list) > 0 {
			return seen.list, err
		}
	}
}

// written are departures whose files are in place, as far as is known.
func (h *Hub) written(ctx context.Context, caller Caller, id string, after int64, limit int) (list []parley.Departure, err error) {
	err = h.view(ctx, caller, opListDepartures, func(s *scene) error {
		if _, err := s.bridge(id); err != nil {
			return err
		}
		rows, err := s.Bridges().Departures(id, parley.DepartureWritten, after, limit)
		for _, row := range rows {
			list = append(list, parley.Departure{
				ID: strconv.FormatInt(row.Num, 10), Name: row.Name, Message: parley.Message{ID: row.Message}, Recipient: row.Recipient, Written: true,
			})
		}
		return err
	})
	return list, err
}

// stepDeparture takes a departure to another state. It is the only place where that changes.
func (s *scene) stepDeparture(row *parley.DepartureRow, to parley.DepartureState) error {
	if !row.State.May(to) {
		return parley.Errorf(parley.BadInput, "departure %d is %s and cannot become %s", row.Num, row.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	row.State, row.At = to, s.now
	return s.Bridges().PutDeparture(*row)
}

package clients

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	// lifetime is how long a session lives after the hub with its connections has renewed it last.
	lifetime = time.Minute
	// renewEvery is how often a hub renews the sessions that are connected to it.
	renewEvery = 20 * time.Second
	// endEvery is how often a hub looks for sessions that are over.
	endEvery = 500 * time.Millisecond
)

// endRegularly ends the sessions whose clients did not connect again.
func (s *Service) endRegularly(ctx context.Context, started func()) {
	s.Regularly(ctx, started, endEvery, s.EndSessions)
}

// EndSessions ends the sessions of this process whose last connection was lost too long ago.
func (s *Service) EndSessions(ctx context.Context) (failed error) {
	for _, id := range s.ClientSessions.Over(s.Now()) {
		failed = errors.Join(failed, s.endIfOver(ctx, id))
	}
	return failed
}

func (s *Service) endIfOver(ctx context.Context, id string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.ClientSessions.IsOver(id, s.Now()) {
		return nil // its client has connected again
	}
	if err := s.end(ctx, id); err != nil {
		return err
	}
	s.ClientSessions.End(id)
	return nil
}

// end ends a session in the store, if it is still there.
func (s *Service) end(ctx context.Context, id string) error {
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		row, found, err := find(u, id)
		if err != nil || !found {
			return err
		}
		return endRow(u, row)
	})
}

func endRow(u *unit.Unit, row storage.SessionRow) error {
	if err := endHeld(u, row); err != nil {
		return err
	}
	return sessions.Remove(u, row)
}

// endLapsed ends a session that nobody has renewed. The hub of the session may have done so since the list of sessions was read.
func endLapsed(u *unit.Unit, id string, now parley.Tick) error {
	row, found, err := find(u, id)
	if err != nil || !found || row.Until > now {
		return err
	}
	return endRow(u, row)
}

func find(u *unit.Unit, id string) (row storage.SessionRow, found bool, err error) {
	rows, err := u.Sessions().List()
	at := slices.IndexFunc(rows, func(r storage.SessionRow) bool { return r.ID == id })
	if at < 0 {
		return row, false, err
	}
	return rows[at], true, nil
}

// endHeld gives back what a session has taken, at once and in order. What waited for the session alone fails.
func endHeld(u *unit.Unit, row storage.SessionRow) error {
	waiting, taken, err := sessions.Held(u, row)
	for i := range waiting {
		if err == nil {
			err = deliveries.End(u, &waiting[i], parley.DeliveryFailed, sessionEndedError(row.Agent))
		}
	}
	for i := range taken {
		if err == nil {
			lost := parley.Trouble{Failure: parley.FailureLost, Reason: whyEnded}
			err = work.RetryOrEndAfter(u, &taken[i], lost.Failure, deliveries.Failed(row.Agent, lost), 0)
		}
	}
	return err
}

const whyEnded = "its client session has ended"

func sessionEndedError(agent string) *parley.Error {
	return deliveries.Failed(agent, parley.Trouble{Failure: parley.FailureFinal, Reason: whyEnded})
}

// renewRegularly keeps the sessions of this process alive, and ends those of processes that are lost.
func (s *Service) renewRegularly(ctx context.Context, started func()) {
	s.Regularly(ctx, started, renewEvery, s.RenewSessions)
}

// RenewSessions renews the sessions that this process knows, and the leases of what they hold. It ends sessions that nobody has
// renewed in time, because their hub is lost.
func (s *Service) RenewSessions(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	var rows []storage.SessionRow
	err := s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		rows, err = u.Sessions().List()
		return err
	})
	if err != nil || len(rows) == 0 && len(s.ClientSessions.IDs()) == 0 {
		return err
	}
	for part := range slices.Chunk(rows, unit.SweepBatch) {
		err = errors.Join(err, s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return s.renew(u, part) }))
	}
	s.dropEnded(rows)
	return err
}

// renew renews or ends a part of the sessions.
func (s *Service) renew(u *unit.Unit, rows []storage.SessionRow) error {
	now, err := u.Queue().Now()
	if err != nil {
		return err
	}
	held, err := u.Sessions().CountHeld()
	for _, row := range rows {
		switch {
		case err != nil:
			return err
		case s.ClientSessions.Has(row.ID):
			row.LastSign, row.Until = s.ClientSessions.Now(row, u.Now).LastSign, now.After(lifetime)
			err = renewRow(u, row, held[row.ID] > 0)
		case row.Until <= now:
			err = endLapsed(u, row.ID, now)
		}
	}
	return err
}

// renewRow stores that a session goes on, and extends the leases of what it holds.
func renewRow(u *unit.Unit, row storage.SessionRow, holds bool) error {
	err := sessions.Save(u.Tx, row)
	if errors.Is(err, parley.ErrNotFound) {
		return nil // it has ended in the meantime
	}
	if err != nil || !holds {
		return err
	}
	list, err := u.Queue().Leased(row.ID)
	if err != nil {
		return err
	}
	return deliveries.Extend(u, list, lifetime)
}

// dropEnded forgets the sessions that another hub has ended, because this one did not renew them in time.
func (s *Service) dropEnded(rows []storage.SessionRow) {
	for _, id := range s.ClientSessions.IDs() {
		if !slices.ContainsFunc(rows, func(r storage.SessionRow) bool { return r.ID == id }) {
			s.ClientSessions.End(id)
		}
	}
}

// RecoverSessions gives the sessions of a former process of this hub the time to connect again. What they hold stays leased to them.
// It returns the ids of all live sessions.
func RecoverSessions(ctx context.Context, s *Service) (ids map[string]bool, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	var former []storage.SessionRow
	attends := map[string]bool{} // by participant
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		rows, err := u.Sessions().List()
		ids, former = map[string]bool{}, nil
		for _, row := range rows {
			if ids[row.ID] = true; err != nil || row.Node != s.Config.Node {
				continue
			}
			former = append(former, row)
			attends[row.Agent], err = s.revive(u, row)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, row := range former {
		s.ClientSessions.Expect(row.ID, s.Now(), s.attendance(row.Agent, attends[row.Agent]))
	}
	return ids, nil
}

// revive renews a session of a former process, and reports whether its participant is an agent.
func (s *Service) revive(u *unit.Unit, row storage.SessionRow) (isAgent bool, err error) {
	a, err := u.Agents().Find(row.Agent)
	if err != nil {
		return false, err
	}
	now, err := u.Queue().Now()
	if err != nil {
		return false, err
	}
	row.Until = now.After(lifetime)
	return a.Kind == parley.KindAgent, renewRow(u, row, true)
}

// Package clients holds the use cases of client sessions: opening and ending them, and settling what they hold.
//
// A session is a row, and lives as long as the hub process with its connections renews the row. That process also renews the lease of
// everything the session holds. When its last connection is lost, the session has a short grace in which its client can connect again;
// then the hub ends it. A hub that starts again gives the same grace to the sessions of its former process. A session of a hub process
// that is lost ends when nobody renews it.
package clients

import (
	"context"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names    *names.Service
	presence *presence.Service
	inbox    *inbox.Service

	changing sync.Mutex // held while a session is opened or ended
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service, presence *presence.Service, inbox *inbox.Service) *Service {
	return &Service{Core: core, names: names, presence: presence, inbox: inbox}
}

// Background returns the loops that end sessions and keep them alive.
func Background(s *Service) []unit.Background {
	return []unit.Background{s.endRegularly, s.renewRegularly}
}

// Sessions returns the live client sessions of all participants, the oldest first.
func (s *Service) Sessions(ctx context.Context, caller unit.Caller) (list []parley.Session, err error) {
	err = s.View(ctx, caller, unit.OpListSessions, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		rows, err := u.Sessions().List()
		if err != nil || len(rows) == 0 {
			return err
		}
		held, err := u.Sessions().CountHeld()
		for _, row := range rows {
			one := s.ClientSessions.Now(row, u.Now)
			if u.SeesAll() || row.Agent == u.Me.ID {
				one.Held = held[row.ID]
			}
			list = append(list, one)
		}
		return err
	})
	return list, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListSessions})
}

// AckSession acknowledges deliveries that a live client session of the caller has taken. It returns E003 if the session does not hold
// one of them; then nothing changes.
func (s *Service) AckSession(ctx context.Context, caller unit.Caller, key string, messages ...string) (list []parley.Delivery, err error) {
	if messages, err = s.names.FindMessages(ctx, caller, unit.OpAck, messages); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpAck, func(u *unit.Unit) error {
		row, err := own(u, caller, key)
		if err != nil {
			return err
		}
		list, err = deliveries.Each(u, row.ID, messages, func(d *parley.Delivery) error {
			if d.Lease != row.ID {
				return deliveries.NotLeasedError(*d)
			}
			return deliveries.SetState(u, d, parley.DeliveryAcked, nil)
		})
		return err
	})
	return list, err
}

// SettleSession ends the turn of a live client session of the caller: everything that the session has taken is answered, acknowledged
// or given back. With an empty outcome, what the session has taken and nobody has seen is given back too: the turn did not have it.
// What waits for the session, and was not taken, stays. The list is empty if the session has taken nothing.
func (s *Service) SettleSession(ctx context.Context, caller unit.Caller, key string, outcome parley.Outcome) (list []parley.Delivery, err error) {
	if outcome, err = inbox.CheckOutcome(ctx, s.inbox, caller, outcome); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpSettle, func(u *unit.Unit) error {
		row, err := own(u, caller, key)
		if err != nil {
			return err
		}
		if err := inbox.CheckAnswer(u, outcome); err != nil {
			return err
		}
		if _, list, err = sessions.Held(u, row); err != nil {
			return err
		}
		for i := range list {
			if err := settleTaken(u, &list[i], outcome); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

func settleTaken(u *unit.Unit, d *parley.Delivery, outcome parley.Outcome) error {
	if d.State == parley.DeliveryDelivered && outcome == (parley.Outcome{}) {
		return deliveries.SetState(u, d, parley.DeliveryAccepted, nil)
	}
	return work.Settle(u, d, outcome)
}

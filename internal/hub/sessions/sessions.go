// Package sessions holds the rows of client sessions, and the event of each that begins or ends.
package sessions

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// Add stores a new session, and notes the event.
func Add(u *unit.Unit, row storage.SessionRow) error {
	if err := u.Sessions().Insert(row); err != nil {
		return err
	}
	return note(u, parley.EventSessionOpened, row)
}

// Save stores a changed session.
func Save(tx storage.Tx, row storage.SessionRow) error {
	return tx.Sessions().Put(row)
}

// Remove removes a session that has ended, and notes the event. It does nothing if the session was removed before.
func Remove(u *unit.Unit, row storage.SessionRow) error {
	err := u.Sessions().Erase(row.ID)
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return note(u, parley.EventSessionEnded, row)
}

func note(u *unit.Unit, kind parley.EventKind, row storage.SessionRow) error {
	data, err := json.Marshal(struct {
		Key    string             `json:"key"`
		Client string             `json:"client,omitempty"`
		Kind   parley.SessionKind `json:"kind"`
		Wake   parley.SessionWake `json:"wake"`
	}{row.Key, row.Client, row.Kind, row.Wake})
	u.Note(parley.Event{Kind: kind, Agent: row.Agent, Data: data})
	return err
}

// Find returns the live session of a participant with a key. It returns parley.UnknownSession if there is none.
func Find(u *unit.Unit, agent, key string) (storage.SessionRow, error) {
	row, err := u.Sessions().Get(agent, key)
	if errors.Is(err, parley.ErrNotFound) {
		err = parley.UnknownSession(key)
	}
	return row, err
}

// Waiting returns the deliveries that wait for a session and that it has not taken yet.
func Waiting(u *unit.Unit, row storage.SessionRow) ([]parley.Delivery, error) {
	waiting, _, err := Held(u, row)
	return waiting, err
}

// Holds reports whether a lease is that of a client session, and not a plain one.
func Holds(u *unit.Unit, lease string) (bool, error) {
	rows, err := u.Sessions().List()
	return slices.ContainsFunc(rows, func(r storage.SessionRow) bool { return r.ID == lease }), err
}

// Held returns the deliveries that wait for a session, and those that it has taken and not settled.
func Held(u *unit.Unit, row storage.SessionRow) (waiting, taken []parley.Delivery, err error) {
	list, err := u.Queue().Leased(row.ID)
	for _, d := range list {
		if d.State == parley.DeliveryAccepted {
			waiting = append(waiting, d)
		} else {
			taken = append(taken, d)
		}
	}
	return waiting, taken, err
}

// KeepFor makes a delivery wait for a session, so that no other consumer can take it.
func KeepFor(u *unit.Unit, d *parley.Delivery, row storage.SessionRow) error {
	if err := deliveries.Lease(u, d, row.ID, deliveries.DefaultLease); err != nil {
		return err
	}
	u.Wake(d.Recipient)
	return nil
}

// OfAgents returns the live sessions as part of the presence of their participants, by participant.
func OfAgents(u *unit.Unit) (map[string][]parley.OpenSession, error) {
	rows, err := u.Sessions().List()
	of := map[string][]parley.OpenSession{}
	for _, row := range rows {
		s := u.Core.ClientSessions.Now(row, u.Now)
		of[s.Agent] = append(of[s.Agent], parley.OpenSession{Key: s.Key, Client: s.Client, Wake: s.Wake, LastSign: s.LastSign})
	}
	return of, err
}

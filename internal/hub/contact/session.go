package contact

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// nameSessionAgent fills in the recipient of an ask that names only a session. It returns parley.UnknownSession if no participant
// has such a session.
func nameSessionAgent(ctx context.Context, s *Service, caller unit.Caller, c parley.Contact) (parley.Contact, error) {
	if c.Session == "" || c.Agent != "" {
		return c, nil
	}
	if err := parley.CheckSessionKey(c.Session); err != nil {
		return c, err
	}
	err := s.View(ctx, caller, unit.OpContact, func(u *unit.Unit) error {
		rows, err := u.Sessions().List()
		for _, row := range rows {
			if row.Key != c.Session || row.Agent == u.Me.ID {
				continue
			}
			if c.Agent != "" {
				return parley.Errorf(parley.BadInput, "several participants have a session with the key %s", c.Session).
					Suggest("name the agent too; with sessions_send, as AGENT/%s", c.Session)
			}
			c.Agent = row.Agent
		}
		if err == nil && c.Agent == "" {
			err = parley.UnknownSession(c.Session)
		}
		return err
	})
	return c, err
}

// targetSession returns the session that an ask is for, or the zero value if the ask names none.
func targetSession(u *unit.Unit, target parley.Agent, c parley.Contact) (row storage.SessionRow, err error) {
	if c.Session == "" {
		return row, nil
	}
	row, err = sessions.Find(u, target.ID, c.Session)
	if err != nil {
		return row, err
	}
	if target.Kind != parley.KindAgent || row.Kind == parley.SessionChat || row.Kind == parley.SessionWatch {
		return row, parley.Errorf(parley.BadInput, "the session %s takes no questions of its own", c.Session).
			Suggest("ask its participant: parley ask %s", target.ID)
	}
	return row, nil
}

// keepForSession makes a stored question wait for one session of its recipient.
func keepForSession(u *unit.Unit, r parley.Receipt, target parley.Agent, row storage.SessionRow) error {
	for i := range r.Deliveries {
		if r.Deliveries[i].Recipient == target.ID {
			return sessions.KeepFor(u, &r.Deliveries[i], row)
		}
	}
	return nil
}

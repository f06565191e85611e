package clients

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	// maxSessions is how many live sessions one participant may have.
	maxSessions = 64
	// maxAllSessions is how many live sessions a hub may have.
	maxAllSessions = 4096
)

// OpenSession opens a connection of a client session. If a live session of the caller has the key, the connection joins it: the session
// keeps its kind and client unless they are those of a hook, and takes a wake other than none. It returns E002 if there are too many sessions, or if the session lives
// at another hub on the same database.
func (s *Service) OpenSession(ctx context.Context, caller unit.Caller, n parley.NewSession) (*Connection, error) {
	n, err := n.Check()
	if err != nil {
		return nil, err
	}
	if err := mayHaveSession(caller); err != nil {
		return nil, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	var row storage.SessionRow
	attends := false
	err = s.Update(ctx, caller, unit.OpOpenSession, func(u *unit.Unit) (err error) {
		attends = presence.IsPresentCaller(u, caller)
		row, err = s.joinOrAdd(u, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &Connection{service: s, caller: caller, row: row, closed: make(chan struct{})}
	c.ended = s.ClientSessions.Join(row.ID, s.Now(), s.attendance(row.Agent, attends))
	c.signal = s.InboxSignals.Listen(row.Agent)
	return c, nil
}

// mayHaveSession refuses a run, whose deliveries belong to the run, and an owner that acts as another participant.
func mayHaveSession(caller unit.Caller) error {
	switch {
	case caller.Run != "":
		return parley.Errorf(parley.BadInput, "a run of the hub cannot have a client session").Suggest("leave the session out: messages for the run start its next turn")
	case caller.By != "":
		return parley.Errorf(parley.NotPermitted, "only %s itself can have a client session", caller.Agent).Suggest("use a token of this participant")
	default:
		return nil
	}
}

// attendance returns the function that begins the presence of an agent with a session. The presence of people is not tracked.
func (s *Service) attendance(agent string, attends bool) func() (leave func()) {
	return func() func() {
		if !attends {
			return func() {}
		}
		return s.presence.Attend(agent)
	}
}

func (s *Service) joinOrAdd(u *unit.Unit, n parley.NewSession) (storage.SessionRow, error) {
	row, err := u.Sessions().Get(u.Me.ID, n.Key)
	if errors.Is(err, parley.ErrNotFound) {
		return s.add(u, n)
	}
	if err != nil {
		return row, err
	}
	now, err := u.Queue().Now()
	lives := s.ClientSessions.Has(row.ID)
	switch {
	case err != nil:
		return row, err
	case !lives && row.Node != s.Config.Node && row.Until > now:
		return row, parley.Errorf(parley.Unavailable, "the session %s lives at another hub of this database", n.Key).
			Suggest("connect to the hub of the session, or use another key")
	case !lives: // its end was not stored
		if err := endRow(u, row); err != nil {
			return row, err
		}
		return s.add(u, n)
	}
	before := row
	if n.Wake != parley.WakeNone {
		row.Wake = n.Wake
	}
	if row.Kind == parley.SessionHook { // the hook learns from the kind whether something else keeps the session alive
		row.Kind, row.Client = n.Kind, n.Client
	}
	if row == before {
		return row, nil
	}
	return row, sessions.Save(u.Tx, row)
}

func (s *Service) add(u *unit.Unit, n parley.NewSession) (row storage.SessionRow, err error) {
	rows, err := u.Sessions().List()
	if err != nil {
		return row, err
	}
	own := 0
	for _, r := range rows {
		if r.Agent == u.Me.ID {
			own++
		}
	}
	if own >= maxSessions || len(rows) >= maxAllSessions {
		return row, parley.Errorf(parley.Unavailable, "there are too many client sessions: %d of %s, %d in all", own, u.Me.ID, len(rows)).
			Suggest("end some of them; the limits are %d and %d", maxSessions, maxAllSessions)
	}
	now, err := u.Queue().Now()
	if err != nil {
		return row, err
	}
	row = storage.SessionRow{
		Session: parley.Session{Key: n.Key, Agent: u.Me.ID, Client: n.Client, Kind: n.Kind, Wake: n.Wake, Since: u.Now, LastSign: u.Now},
		ID:      unit.NewID(), Node: s.Config.Node, Until: now.After(lifetime),
	}
	return row, sessions.Add(u, row)
}

// own returns a live session of the caller itself. The error does not depend on whether somebody else has such a session.
func own(u *unit.Unit, caller unit.Caller, key string) (storage.SessionRow, error) {
	if err := mayHaveSession(caller); err != nil {
		return storage.SessionRow{}, err
	}
	return sessions.Find(u, u.Me.ID, key)
}

// Connection is one open connection of a client session. It implements parley.SessionStream.
type Connection struct {
	service *Service
	caller  unit.Caller
	row     storage.SessionRow

	signal <-chan struct{} // closed when there is something new to take
	ended  <-chan struct{} // closed when the hub has ended the session
	began  bool
	last   parley.Inbox // the inbox of the last sign
	look   time.Time    // when to look next

	closed    chan struct{}
	closeOnce sync.Once
}

// Session returns the session as it was when the connection was opened.
func (c *Connection) Session() parley.Session { return c.row.Session }

// lookEvery is how often an open connection looks whether its participant's inbox has changed otherwise, and whether the participant
// still exists.
const lookEvery = 20 * time.Second

// Next waits for the next sign. See parley.SessionStream.
func (c *Connection) Next(ctx context.Context) (parley.SessionSign, error) {
	if !c.began {
		return c.read(ctx)
	}
	look := time.NewTimer(time.Until(c.look)) // a caller may wait in many short steps
	defer look.Stop()
	for {
		select {
		case <-c.signal:
			c.signal = c.service.InboxSignals.Listen(c.row.Agent) // before the inbox is read, so that no signal is missed
			return c.read(ctx)
		case <-look.C:
			before := c.last
			if sign, err := c.read(ctx); err != nil || sign.Inbox != before {
				return sign, err
			}
			look.Reset(time.Until(c.look))
		case <-c.ended:
			return parley.SessionSign{}, parley.Errorf(parley.Unavailable, "the hub has ended the session %s", c.row.Key).Suggest("open it again")
		case <-c.closed:
			return parley.SessionSign{}, parley.Errorf(parley.BadInput, "the connection of the session %s is closed", c.row.Key).
				Because(parley.Gone).Suggest("open it again")
		case <-ctx.Done():
			return parley.SessionSign{}, c.service.Explain(ctx, c.caller, context.Cause(ctx))
		}
	}
}

func (c *Connection) read(ctx context.Context) (sign parley.SessionSign, err error) {
	err = c.service.View(ctx, c.caller, unit.OpOpenSession, func(u *unit.Unit) error {
		sign.Inbox, err = u.Queue().Inbox(u.Me.ID)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			c.closeNow()
		}
		return sign, err
	}
	c.began, c.last, c.look = true, sign.Inbox, time.Now().Add(lookEvery)
	return sign, nil
}

// Close closes the connection.
func (c *Connection) Close() error {
	c.closeNow()
	return nil
}

func (c *Connection) closeNow() {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.service.ClientSessions.Leave(c.row.ID, c.service.Now())
	})
}

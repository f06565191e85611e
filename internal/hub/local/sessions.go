package local

import (
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// ClientSessions are the connections of client sessions to this process, by the ids of the sessions.
type ClientSessions struct {
	mu   sync.Mutex
	open map[string]*clientSession
}

type clientSession struct {
	connections int
	lastSign    time.Time
	ends        time.Time     // when the session ends if nobody connects before; used while it has no connections
	ended       chan struct{} // closed when the session ends
	leave       func()        // ends the presence of its participant
}

// NewClientSessions returns an empty set.
func NewClientSessions() *ClientSessions { return &ClientSessions{open: map[string]*clientSession{}} }

// Join adds a connection to a session. attend is called for a session that is new to this process; it returns the function that ends
// the presence of the participant. The channel is closed when the session ends.
func (c *ClientSessions) Join(id string, now time.Time, attend func() (leave func())) (ended <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of(id, attend)
	s.connections++
	s.lastSign = now
	return s.ended
}

func (c *ClientSessions) of(id string, attend func() (leave func())) *clientSession {
	s, known := c.open[id]
	if !known {
		s = &clientSession{ended: make(chan struct{}), leave: attend()}
		c.open[id] = s
	}
	return s
}

// Expect adds a session whose clients are expected to connect again before its time is up.
func (c *ClientSessions) Expect(id string, now time.Time, attend func() (leave func())) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of(id, attend)
	s.lastSign, s.ends = now, now.Add(parley.SessionGrace)
}

// Leave removes a connection of a session.
func (c *ClientSessions) Leave(id string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, known := c.open[id]; known {
		s.connections--
		s.lastSign, s.ends = now, now.Add(parley.SessionGrace)
	}
}

// Over returns the sessions without connections whose time is up.
func (c *ClientSessions) Over(now time.Time) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.open {
		if s.connections <= 0 && !s.ends.After(now) {
			ids = append(ids, id)
		}
	}
	return ids
}

// IsOver reports whether Over would return a session. A session that this process does not know is not over.
func (c *ClientSessions) IsOver(id string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, known := c.open[id]
	return known && s.connections <= 0 && !s.ends.After(now)
}

// Has reports whether this process knows a session.
func (c *ClientSessions) Has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.open[id]
	return known
}

// IDs returns the ids of all sessions that this process knows.
func (c *ClientSessions) IDs() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.open {
		ids = append(ids, id)
	}
	return ids
}

// End forgets a session and tells its connections.
func (c *ClientSessions) End(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, known := c.open[id]; known {
		close(s.ended)
		s.leave()
		delete(c.open, id)
	}
}

// Connections returns how many connections the sessions of this process have.
func (c *ClientSessions) Connections() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.open {
		n += s.connections
	}
	return n
}

// Now returns a stored session with its last sign as this process knows it.
func (c *ClientSessions) Now(row storage.SessionRow, now time.Time) parley.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, known := c.open[row.ID]; known {
		if row.LastSign = s.lastSign; s.connections > 0 {
			row.LastSign = now
		}
	}
	return row.Session
}

package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// shares are how many connections the hub takes.
type shares struct {
	total       int // over TCP
	address     int // over TCP, from one address
	anonymous   int // over TCP, without a good credential so far
	participant int // over TCP, of one participant; the local owner has no such bound
	socket      int // by the local socket
	agents      int // by the local socket, of agents: the rest is kept for the owner
	agent       int // by the local socket, of one agent
}

const (
	mostAnonymous     = 256
	mostOfParticipant = 256
	mostLocal         = 512
	leastLocal        = 16
)

// sharesOf divides the descriptors that the process may open: one half is kept for the hub's own files and runs. 0
// descriptors: their number is not known, or without limit.
func sharesOf(descriptors, total, address int) shares {
	s := shares{total: total, socket: mostLocal}
	if descriptors > 0 {
		rest := descriptors - max(descriptors/2, min(64, descriptors*3/4))
		s.socket = min(max(rest*3/8, leastLocal), mostLocal)
		s.total = max(min(total, rest-s.socket), 1)
	}
	s.address = min(address, max(s.total*3/4, 1))
	s.anonymous = min(mostAnonymous, max(s.total/2, 1))
	s.participant = min(mostOfParticipant, max(s.total/2, 1))
	s.agents = s.socket / 2
	s.agent = max(s.agents*3/4, 1)
	return s
}

// conns are the open connections. Where a new one would be too many, an older one by which nothing is asked is closed
// for it: one without a credential first, and then the one that was used longest ago. So idle connections, of
// whomever, keep nobody out. Where there is none to close, the new one is refused. On the local socket an agent with
// more connections than another one gives way, also with what it has under way: see roomFor.
type conns struct {
	shares
	mu    sync.Mutex
	open  map[*conn]struct{}
	clock int64 // rises with each use of a connection
}

// conn is one connection. Its fields are guarded by the lock of conns.
type conn struct {
	net.Conn
	of                *conns
	address           string // "": the local socket
	used              int64
	busy              int    // requests under way
	authenticated     bool   // a request on it has had a good credential
	callAuthenticated bool   // so has the request that is under way
	owner             bool   // it is the local owner's
	agent             string // whose it is, if it is not the owner's

	byProcess bool        // it is the agent's because its process is, whatever token it shows
	header    http.Header // of the answer to the request that is under way
}

func newConns(s shares) *conns { return &conns{shares: s, open: map[*conn]struct{}{}} }

// guarded is a listener whose connections are counted.
type guarded struct {
	net.Listener
	conns *conns
}

// Accept implements net.Listener.
func (g guarded) Accept() (net.Conn, error) {
	for {
		opened, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c, ok := g.conns.admit(opened); ok {
			return c, nil
		}
		refuse(opened)
	}
}

func (cs *conns) admit(opened net.Conn) (*conn, bool) {
	c := &conn{Conn: opened, of: cs}
	if host, _, err := net.SplitHostPort(opened.RemoteAddr().String()); err == nil {
		c.address = host
	}
	cs.mu.Lock()
	victims, ok := cs.roomForNew(c)
	if ok {
		cs.touch(c)
		cs.open[c] = struct{}{}
	}
	cs.mu.Unlock()
	closeAll(victims)
	return c, ok
}

// roomForNew chooses whom to close for a new connection. cs.mu is held.
func (cs *conns) roomForNew(c *conn) (victims []*conn, ok bool) {
	if c.address == "" {
		return cs.evictOne(victims, cs.socket, func(o *conn) bool { return o.address == "" })
	}
	for _, bound := range []struct {
		most int
		of   func(*conn) bool
	}{
		{cs.anonymous, func(o *conn) bool { return o.address != "" && !o.authenticated }},
		{cs.shares.address, func(o *conn) bool { return o.address == c.address }},
		{cs.total, func(o *conn) bool { return o.address != "" }},
	} {
		if victims, ok = cs.evictOne(victims, bound.most, bound.of); !ok {
			return victims, false
		}
	}
	return victims, true
}

// evictOne makes room for one more among some connections. cs.mu is held.
func (cs *conns) evictOne(victims []*conn, most int, of func(*conn) bool) ([]*conn, bool) {
	var some []*conn
	for c := range cs.open {
		if of(c) {
			some = append(some, c)
		}
	}
	if len(some) < most {
		return victims, true
	}
	if len(some) == 0 {
		return victims, false
	}
	victim := slices.MinFunc(some, compareWorth)
	if victim.keptFor() == keptAlways {
		return victims, false
	}
	delete(cs.open, victim)
	return append(victims, victim), true
}

// keptAlways is what keptFor says of a connection that is never closed for another.
const keptAlways = 4

// keptFor ranks the reasons to keep a connection. A request without a credential counts as a stranger's, even if an earlier
// request on the connection had one: nothing else bounds the number of such requests.
func (c *conn) keptFor() int {
	switch {
	case c.busy > 0 && c.callAuthenticated:
		return keptAlways
	case c.owner:
		return 3
	case c.busy > 0:
		return 2 // a stranger's request
	case c.authenticated:
		return 1
	default:
		return 0
	}
}

// identified notes whose process is at the other end of the local socket, and says whether the connection may stay.
func (c *conn) identified(owner bool, agent string) bool {
	c.of.mu.Lock()
	c.byProcess = !owner
	c.of.mu.Unlock()
	return c.assign(owner, agent)
}

// noteCaller notes that a request's caller has shown a good credential, and says whether the connection may stay. Over TCP the
// first credential on a connection makes it its participant's. By the local socket a process of the owner's may show the token
// of somebody else: then the connection is that one's.
func (c *conn) noteCaller(who string) bool {
	c.of.mu.Lock()
	c.authenticated, c.callAuthenticated = true, true
	owner := who == parley.Owner
	stays := c.byProcess || c.owner == owner && (owner || c.agent == who)
	if c.address != "" {
		stays = owner || c.agent == who
	}
	c.of.mu.Unlock()
	return stays || c.assign(owner, who)
}

// assign makes a connection the owner's or an agent's, and says whether it may stay: agents have a part of the socket's
// connections only, and one agent a part of that. Over TCP each has a part too.
func (c *conn) assign(owner bool, agent string) bool {
	cs := c.of
	cs.mu.Lock()
	c.owner, c.agent = owner, agent
	delete(cs.open, c)
	victims, ok := cs.roomForOwned(c)
	if ok {
		cs.open[c] = struct{}{}
	}
	cs.mu.Unlock()
	closeAll(victims)
	return ok
}

// roomForOwned chooses whom to close for a connection that belongs to somebody. Where all agents together have too many on the local
// socket and none is idle, the agent with the most gives one to an agent that has fewer. cs.mu is held.
func (cs *conns) roomForOwned(c *conn) (victims []*conn, ok bool) {
	if c.owner {
		return nil, true
	}
	if c.address != "" {
		return cs.evictOne(nil, cs.participant, func(o *conn) bool { return o.address != "" && o.agent == c.agent })
	}
	ofAgents := func(o *conn) bool { return o.address == "" && !o.owner }
	victims, ok = cs.evictOne(nil, cs.shares.agent, func(o *conn) bool { return ofAgents(o) && o.agent == c.agent })
	if !ok {
		return victims, false
	}
	if victims, ok = cs.evictOne(victims, cs.agents, ofAgents); ok {
		return victims, true
	}
	of := map[string][]*conn{}
	for o := range cs.open {
		if ofAgents(o) {
			of[o.agent] = append(of[o.agent], o)
		}
	}
	var most []*conn
	for _, list := range of {
		if len(list) > len(most) {
			most = list
		}
	}
	if len(most) <= len(of[c.agent])+1 {
		return victims, false
	}
	victim := slices.MinFunc(most, compareWorth)
	delete(cs.open, victim)
	return append(victims, victim), true
}

// compareWorth orders connections by how good a reason there is to keep them, and then by when they were used.
func compareWorth(a, b *conn) int {
	return cmp.Or(a.keptFor()-b.keptFor(), cmp.Compare(a.used, b.used))
}

// touch notes that a connection is used. cs.mu is held.
func (cs *conns) touch(c *conn) {
	cs.clock++
	c.used = cs.clock
}

// use counts a request that begins or ends.
func (c *conn) use(n int) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.busy += n
	c.callAuthenticated = false
	c.of.touch(c)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func closeAll(victims []*conn) {
	for _, c := range victims {
		_ = c.Conn.Close() // whoever is at its other end finds out
	}
}

const tooManyAnswer = `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"this hub has as many connections as it takes",` +
	`"code":"E002","recoverable":true,"suggestion":"close some, or try again in a moment","retry_after":1}` + "\n"

// refuse answers that there are too many connections.
func refuse(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(tooManyAnswer), tooManyAnswer)
	_ = c.Close()
}

type connKey struct{}

// connOf is the connection a request came by, or nil.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// counted counts the requests under way on each connection.
func counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r.Context()); c != nil {
			c.header = w.Header()
			c.use(1)
			defer c.use(-1)
		}
		h.ServeHTTP(w, r)
	})
}

// noteCredential notes that a request's caller has shown a good credential. E002 if it finds no place on the socket: then the
// connection ends with the answer.
func noteCredential(ctx context.Context, who string) error {
	c := connOf(ctx)
	if c == nil || c.noteCaller(who) {
		return nil
	}
	c.header.Set("Connection", "close")
	return errNoPlace()
}

func errNoPlace() error {
	return parley.Errorf(parley.Unavailable, "agents, or this one, have as many connections as the hub takes").
		Retryable(time.Second).Suggest("close some, or try again in a moment")
}

// plainConn is a connection as it was accepted.
func plainConn(c net.Conn) net.Conn {
	if counted, ok := c.(*conn); ok {
		return counted.Conn
	}
	return c
}

// String says what is open, for logs.
func (s shares) String() string {
	return strings.Join([]string{
		fmt.Sprint(s.total, " by TCP"), fmt.Sprint(s.address, " from one address"), fmt.Sprint(s.anonymous, " without a credential"),
		fmt.Sprint(s.socket, " by the socket"), fmt.Sprint(s.agent, " of one agent there"),
	}, ", ")
}

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

// connLimits say how many connections of each kind the hub accepts.
type connLimits struct {
	total       int // over TCP
	address     int // over TCP, from one address
	anonymous   int // over TCP, before a valid credential was shown
	participant int // over TCP, of one participant; the local owner has no such limit
	socket      int // over the local socket
	agents      int // over the local socket, of all agents: the rest is reserved for the owner
	agent       int // over the local socket, of one agent
}

const (
	maxAnonymous      = 256
	maxPerParticipant = 256
	maxLocal          = 512
	minLocal          = 16
)

// newConnLimits divides the descriptors that the process may open. One half is reserved for the hub's own files and runs.
// 0 descriptors means that their number is unknown or unlimited.
func newConnLimits(descriptors, total, address int) connLimits {
	l := connLimits{total: total, socket: maxLocal}
	if descriptors > 0 {
		rest := descriptors - max(descriptors/2, min(64, descriptors*3/4))
		l.socket = min(max(rest*3/8, minLocal), maxLocal)
		l.total = max(min(total, rest-l.socket), 1)
	}
	l.address = min(address, max(l.total*3/4, 1))
	l.anonymous = min(maxAnonymous, max(l.total/2, 1))
	l.participant = min(maxPerParticipant, max(l.total/2, 1))
	l.agents = l.socket / 2
	l.agent = max(l.agents*3/4, 1)
	return l
}

// conns holds the open connections. If a new connection would exceed a limit, the hub closes an older idle one for it:
// first one without a credential, then the least recently used one. So idle connections keep nobody out. If no connection
// is idle, the hub refuses the new one. On the local socket, the agent with the most connections gives one up to an agent
// with fewer, even one with a request under way: see evictForOwned.
type conns struct {
	connLimits
	mu    sync.Mutex
	open  map[*conn]struct{}
	clock int64 // rises with each use of a connection
}

// conn is one connection. The lock of conns guards its fields.
type conn struct {
	net.Conn
	all               *conns
	address           string // "": the local socket
	used              int64
	busy              int    // the number of requests under way
	authenticated     bool   // an earlier request showed a valid credential
	callAuthenticated bool   // the request under way showed one
	owner             bool   // the connection belongs to the local owner
	agent             string // the agent that it belongs to, if not to the owner

	byProcess bool        // the process decides to whom it belongs, whatever token a request shows
	header    http.Header // of the response to the request under way
}

func newConns(l connLimits) *conns { return &conns{connLimits: l, open: map[*conn]struct{}{}} }

// countedListener adds the connections that it accepts to conns, and refuses those that exceed a limit.
type countedListener struct {
	net.Listener
	conns *conns
}

// Accept implements net.Listener.
func (l countedListener) Accept() (net.Conn, error) {
	for {
		opened, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c, ok := l.conns.admit(opened); ok {
			return c, nil
		}
		refuse(opened)
	}
}

// admit adds a connection and closes those that must make room for it. It returns false if no connection can.
func (cs *conns) admit(opened net.Conn) (*conn, bool) {
	c := &conn{Conn: opened, all: cs}
	if host, _, err := net.SplitHostPort(opened.RemoteAddr().String()); err == nil {
		c.address = host
	}
	cs.mu.Lock()
	victims, ok := cs.evictForNew(c)
	if ok {
		cs.touch(c)
		cs.open[c] = struct{}{}
	}
	cs.mu.Unlock()
	closeAll(victims)
	return c, ok
}

// evictForNew removes the connections that must make room for a new one, and returns them for the caller to close. It returns
// false if the new connection must be refused. The caller has locked cs.mu.
func (cs *conns) evictForNew(c *conn) (victims []*conn, ok bool) {
	if c.address == "" {
		return cs.evictOne(victims, cs.socket, func(o *conn) bool { return o.address == "" })
	}
	for _, bound := range []struct {
		limit   int
		matches func(*conn) bool
	}{
		{cs.anonymous, func(o *conn) bool { return o.address != "" && !o.authenticated }},
		{cs.connLimits.address, func(o *conn) bool { return o.address == c.address }},
		{cs.total, func(o *conn) bool { return o.address != "" }},
	} {
		if victims, ok = cs.evictOne(victims, bound.limit, bound.matches); !ok {
			return victims, false
		}
	}
	return victims, true
}

// evictOne makes room for one more of the connections that match, where the limit is reached: it adds the least worth keeping to
// the victims. It returns false if every one of them must stay. The caller has locked cs.mu.
func (cs *conns) evictOne(victims []*conn, limit int, matches func(*conn) bool) ([]*conn, bool) {
	var candidates []*conn
	for c := range cs.open {
		if matches(c) {
			candidates = append(candidates, c)
		}
	}
	if len(candidates) < limit {
		return victims, true
	}
	if len(candidates) == 0 {
		return victims, false
	}
	victim := slices.MinFunc(candidates, compareWorth)
	if victim.rank() == rankNeverEvict {
		return victims, false
	}
	delete(cs.open, victim)
	return append(victims, victim), true
}

// rankNeverEvict is the rank of a connection that the hub never closes for another.
const rankNeverEvict = 4

// rank says how much a connection is worth keeping; the lowest is closed first. A request without a credential counts as
// anonymous, even if an earlier request on the connection had one: nothing else limits the number of such requests.
func (c *conn) rank() int {
	switch {
	case c.busy > 0 && c.callAuthenticated:
		return rankNeverEvict
	case c.owner:
		return 3
	case c.busy > 0:
		return 2 // a request without a credential
	case c.authenticated:
		return 1
	default:
		return 0
	}
}

// setPeer notes to whom the process at the other end of the local socket belongs. It returns false if the connection must close.
func (c *conn) setPeer(owner bool, agent string) bool {
	c.all.mu.Lock()
	c.byProcess = !owner
	c.all.mu.Unlock()
	return c.assign(owner, agent)
}

// noteCaller notes that a request showed a valid credential of a participant. It returns false if the connection must close. Over
// TCP a connection belongs to the agent whose credential it showed last. On the local socket, a process of the owner may show the
// token of an agent: the connection then belongs to that agent.
func (c *conn) noteCaller(id string) bool {
	c.all.mu.Lock()
	c.authenticated, c.callAuthenticated = true, true
	owner := id == parley.Owner
	stays := c.byProcess || c.owner == owner && (owner || c.agent == id)
	if c.address != "" {
		stays = owner || c.agent == id
	}
	c.all.mu.Unlock()
	return stays || c.assign(owner, id)
}

// assign gives a connection to the owner or to an agent, and closes the connections that must make room for it. It returns false
// if the connection itself must close: all agents share a part of the socket's connections, and one agent gets a part of that.
// Over TCP each participant gets a part.
func (c *conn) assign(owner bool, agent string) bool {
	cs := c.all
	cs.mu.Lock()
	c.owner, c.agent = owner, agent
	delete(cs.open, c)
	victims, ok := cs.evictForOwned(c)
	if ok {
		cs.open[c] = struct{}{}
	}
	cs.mu.Unlock()
	closeAll(victims)
	return ok
}

// evictForOwned removes the connections that must make room for one that belongs to the owner or an agent, and returns them for
// the caller to close. If all agents together have too many on the local socket and none is idle, the agent with the most gives
// one up to an agent with fewer. It returns false if the connection must close. The caller has locked cs.mu.
func (cs *conns) evictForOwned(c *conn) (victims []*conn, ok bool) {
	if c.owner {
		return nil, true
	}
	if c.address != "" {
		return cs.evictOne(nil, cs.participant, func(o *conn) bool { return o.address != "" && o.agent == c.agent })
	}
	ofAgents := func(o *conn) bool { return o.address == "" && !o.owner }
	victims, ok = cs.evictOne(nil, cs.connLimits.agent, func(o *conn) bool { return ofAgents(o) && o.agent == c.agent })
	if !ok {
		return victims, false
	}
	if victims, ok = cs.evictOne(victims, cs.agents, ofAgents); ok {
		return victims, true
	}
	byAgent := map[string][]*conn{}
	for o := range cs.open {
		if ofAgents(o) {
			byAgent[o.agent] = append(byAgent[o.agent], o)
		}
	}
	var largest []*conn
	for _, list := range byAgent {
		if len(list) > len(largest) {
			largest = list
		}
	}
	if len(largest) <= len(byAgent[c.agent])+1 {
		return victims, false
	}
	victim := slices.MinFunc(largest, compareWorth)
	delete(cs.open, victim)
	return append(victims, victim), true
}

// compareWorth orders connections by rank, and those of one rank by their last use.
func compareWorth(a, b *conn) int {
	return cmp.Or(a.rank()-b.rank(), cmp.Compare(a.used, b.used))
}

// touch notes that a connection is used. The caller has locked cs.mu.
func (cs *conns) touch(c *conn) {
	cs.clock++
	c.used = cs.clock
}

// inUse notes that a request begins (1) or ends (-1) on a connection.
func (c *conn) inUse(n int) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.busy += n
	c.callAuthenticated = false
	c.all.touch(c)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

func closeAll(victims []*conn) {
	for _, c := range victims {
		_ = c.Conn.Close() // the client notices the end
	}
}

const tooManyAnswer = `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"the hub has reached its connection limit",` +
	`"code":"E002","recoverable":true,"suggestion":"close some connections, or try again in a moment","retry_after":1}` + "\n"

// refuse answers a connection with 503 and closes it: the hub has too many.
func refuse(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(tooManyAnswer), tooManyAnswer)
	_ = c.Close()
}

type connKey struct{}

// connOf returns the connection that a request came by, or nil.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// countRequests counts the requests under way on each connection.
func countRequests(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r.Context()); c != nil {
			c.header = w.Header()
			c.inUse(1)
			defer c.inUse(-1)
		}
		h.ServeHTTP(w, r)
	})
}

// noteCredential notes that a request showed a valid credential of a participant. If that participant has too many connections, it
// returns E002, and the connection closes after the response.
func noteCredential(ctx context.Context, id string) error {
	c := connOf(ctx)
	if c == nil || c.noteCaller(id) {
		return nil
	}
	c.header.Set("Connection", "close")
	return errTooManyConnections()
}

// errTooManyConnections says that all agents together, or one participant, reached a connection limit.
func errTooManyConnections() error {
	return parley.Errorf(parley.Unavailable, "the hub has reached its connection limit for this participant, or for all agents together").
		Retryable(time.Second).Suggest("close some connections, or try again in a moment")
}

// plainConn returns the connection that a listener accepted, without its counters.
func plainConn(c net.Conn) net.Conn {
	if wrapped, ok := c.(*conn); ok {
		return wrapped.Conn
	}
	return c
}

// String lists the limits, for logs.
func (l connLimits) String() string {
	return strings.Join([]string{
		fmt.Sprint(l.total, " by TCP"), fmt.Sprint(l.address, " from one address"), fmt.Sprint(l.anonymous, " without a credential"),
		fmt.Sprint(l.socket, " by the socket"), fmt.Sprint(l.agent, " of one agent there"),
	}, ", ")
}

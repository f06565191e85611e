package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// takes has an agent open connections by the socket and ask by each, and counts those that were taken.
func (c connDialer) takes(agent string, n int) (taken []*conn) {
	c.t.Helper()
	for range n {
		one := c.must("")
		if one.setPeer(false, agent) {
			one.asks()
			taken = append(taken, one)
		}
	}
	return taken
}

func (c connDialer) count(which []*conn) (n int) {
	for _, one := range which {
		if c.isOpen(one) {
			n++
		}
	}
	return n
}

// TestSeveralAgentsKeepNoOtherFromTheSocket: two agents have all places of agents, each with a call under way. The next
// agents still get theirs, from the one that has the most.
func TestSeveralAgentsKeepNoOtherFromTheSocket(t *testing.T) {
	c := connDialer{t, newConns(newConnLimits(0, 4096, 2048))}
	arya, gendry := c.takes("arya", maxLocal), c.takes("gendry", maxLocal)
	if a, g := c.count(arya), c.count(gendry); a != 128 || g != 128 {
		t.Errorf("two agents that want everything have %d and %d places", a, g)
	}
	if ned := c.takes("ned", 3); c.count(ned) != 3 {
		t.Errorf("a third agent has %d of 3 places", c.count(ned))
	}
	hound := c.takes("hound", maxLocal)
	if all := c.count(arya) + c.count(gendry) + c.count(hound); all != c.conns.agents-3 {
		t.Errorf("agents have %d places", all+3)
	}
	for name, list := range map[string][]*conn{"arya": arya, "gendry": gendry, "hound": hound} {
		if n := c.count(list); n < 84 || n > 85 {
			t.Errorf("%s has %d places", name, n)
		}
	}
	for range maxLocal / 2 {
		owner := c.must("")
		if !owner.setPeer(true, "") {
			t.Fatal("the owner was refused")
		}
		owner.asks()
	}
}

// TestTokensOfAgentsKeepTheOwnerOnTheSocket: a process of the owner's that shows the token of an agent takes a place of
// agents, not of the owner.
func TestTokensOfAgentsKeepTheOwnerOnTheSocket(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 2, address: 2, anonymous: 2, socket: 6, agents: 2, agent: 2})}
	for i := range 12 {
		one := c.must("")
		if !one.setPeer(true, "") {
			t.Fatal("a process of the owner's was refused")
		}
		one.inUse(1)
		if taken := one.noteCaller(fmt.Sprint("agent-", i)); taken != (i < 2) {
			t.Errorf("agent %d: a place is %v", i, taken)
		}
	}
	for range 4 {
		owner := c.must("")
		if !owner.setPeer(true, "") || !owner.noteCaller(parley.Owner) {
			t.Fatal("the owner was refused")
		}
		owner.inUse(1)
		owner.noteCaller(parley.Owner)
	}
}

// TestAConnectionBelongsToItsLatestToken, unless its process is an agent's.
func TestAConnectionBelongsToItsLatestToken(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 2, address: 2, anonymous: 2, socket: 6, agents: 2, agent: 2})}
	one, run := c.must(""), c.must("")
	one.setPeer(true, "")
	run.setPeer(false, "arya")
	for _, who := range []string{"arya", "gendry", parley.Owner, "arya"} {
		if !one.noteCaller(who) || !run.noteCaller(who) {
			t.Errorf("%s was refused", who)
		}
		if one.owner != (who == parley.Owner) || !one.owner && one.agent != who {
			t.Errorf("with a token of %s it is %q's, the owner's: %v", who, one.agent, one.owner)
		}
		if run.owner || run.agent != "arya" {
			t.Errorf("with a token of %s a run of arya is %q's", who, run.agent)
		}
	}
}

// TestATokenOnTheSocketTakesAPlaceOfItsAgent, at a hub that runs; and one that finds none is told so and let go.
func TestATokenOnTheSocketTakesAPlaceOfItsAgent(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	if _, err := s.hub.AddAgent(t.Context(), owner, parley.NewAgent{ID: "arya"}); err != nil {
		t.Fatal(err)
	}
	made, err := s.hub.NewToken(t.Context(), owner, parley.NewToken{Agent: "arya"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (status int, closed bool) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", s.about.Socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "GET /v1/whoami HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", made.Secret)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode, response.Close
	}
	if status, closed := ask(); status != http.StatusOK || closed {
		t.Errorf("the first is answered %d, closed: %v", status, closed)
	}
	s.conns.mu.Lock()
	for c := range s.conns.open {
		if c.agent != "arya" || c.owner {
			t.Errorf("the connection is %q's, the owner's: %v", c.agent, c.owner)
		}
		c.busy, c.callAuthenticated = 1, true // for as long as the test likes
	}
	s.conns.agents = 1
	s.conns.mu.Unlock()
	if status, closed := ask(); status != http.StatusServiceUnavailable || !closed {
		t.Errorf("one too many is answered %d, closed: %v", status, closed)
	}
}

package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// dialled is a connection that its test has opened, from an address that it has chosen.
type dialled struct {
	net.Conn
	from string
}

func (d dialled) RemoteAddr() net.Addr {
	if d.from == "" {
		return &net.UnixAddr{Net: "unix"}
	}
	return &net.TCPAddr{IP: net.ParseIP(d.from), Port: 1}
}

// connDialer opens connections one after the other.
type connDialer struct {
	t     *testing.T
	conns *conns
}

// open opens a connection from an address, or by the local socket if it is empty. other is the client's end.
func (c connDialer) open(from string) (admitted *conn, ok bool, other net.Conn) {
	ours, theirs := net.Pipe()
	c.t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	admitted, ok = c.conns.admit(dialled{theirs, from})
	return admitted, ok, ours
}

func (c connDialer) must(from string) *conn {
	c.t.Helper()
	admitted, ok, _ := c.open(from)
	if !ok {
		c.t.Fatal("a connection was refused")
	}
	return admitted
}

func (c connDialer) isOpen(which *conn) bool {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	_, open := c.conns.open[which]
	return open
}

func (c connDialer) wantOpen(what string, want bool, which ...*conn) {
	c.t.Helper()
	for i, one := range which {
		if c.isOpen(one) != want {
			c.t.Errorf("%s, number %d: open is %v", what, i, !want)
		}
	}
}

func TestDescriptorsAreSharedOut(t *testing.T) {
	for _, test := range []struct {
		descriptors int
		want        connLimits
	}{
		{0, connLimits{4096, 2048, 256, 256, 512, 256, 192}},
		{1 << 20, connLimits{4096, 2048, 256, 256, 512, 256, 192}},
		{1024, connLimits{320, 240, 160, 160, 192, 96, 72}},
		{256, connLimits{80, 60, 40, 40, 48, 24, 18}},
		{64, connLimits{1, 1, 1, 1, 16, 8, 6}},
	} {
		if got := newConnLimits(test.descriptors, 4096, 2048); got != test.want {
			t.Errorf("%d: got %+v, want %+v", test.descriptors, got, test.want)
		}
	}
}

// TestAnonymousConnectionsKeepNobodyOut: the oldest connection without a credential is closed for a new one, and none that has
// one.
func TestAnonymousConnectionsKeepNobodyOut(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 10, address: 8, anonymous: 3, participant: 8, socket: 2, agents: 1})}
	friend := c.must("10.0.0.1")
	friend.noteCaller("ned")
	first, second, third := c.must("10.0.0.2"), c.must("10.0.0.3"), c.must("10.0.0.4")
	newest := c.must("10.0.0.5")
	c.wantOpen("the oldest stranger", false, first)
	c.wantOpen("others", true, friend, second, third, newest)
	second.inUse(1) // it asks for something
	c.must("10.0.0.6")
	c.wantOpen("one that asks for nothing goes first", false, third)
	c.wantOpen("others", true, friend, second, newest)
}

// TestIdleConnectionsKeepNobodyOut: also those with a credential are closed, the one that was used longest ago first; those
// by which something is asked are not.
func TestIdleConnectionsKeepNobodyOut(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 4, address: 3, anonymous: 4, participant: 4, socket: 2, agents: 1})}
	var hoard []*conn
	for range 3 {
		one := c.must("10.0.0.1")
		one.noteCaller("ned")
		hoard = append(hoard, one)
	}
	hoard[0].inUse(1)
	hoard[0].inUse(-1) // it was used last
	newest := c.must("10.0.0.1")
	newest.noteCaller("ned")
	c.wantOpen("used longest ago", false, hoard[1])
	c.wantOpen("others", true, hoard[0], hoard[2], newest)
	for _, one := range []*conn{hoard[0], hoard[2], newest} {
		one.asks()
	}
	if _, ok, _ := c.open("10.0.0.1"); ok {
		t.Error("one address got more than it may")
	}
	elsewhere := c.must("10.0.0.2")
	elsewhere.asks()
	if _, ok, _ := c.open("10.0.0.3"); ok {
		t.Error("the hub took more than it may")
	}
	newest.inUse(-1)
	c.must("10.0.0.3")
}

// TestOneParticipantHasAPartOfTheConnections over TCP: its idle ones are closed first, and one more is refused if all are in use.
func TestOneParticipantHasAPartOfTheConnections(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 10, address: 10, anonymous: 5, participant: 2, socket: 2, agents: 1})}
	shown := func(who string) (*conn, bool) {
		one := c.must("10.0.0.1")
		one.inUse(1)
		return one, one.noteCaller(who)
	}
	first, _ := shown("mallory")
	second, _ := shown("mallory")
	if _, stays := shown("mallory"); stays {
		t.Error("one participant got more than it may")
	}
	if !first.noteCaller("mallory") {
		t.Error("a further call on its own connection is refused")
	}
	second.inUse(-1)
	if _, stays := shown("mallory"); !stays {
		t.Error("it is refused although one of its connections is idle")
	}
	c.wantOpen("the idle one", false, second)
	for _, who := range []string{"ned", parley.Owner, parley.Owner, parley.Owner} {
		if _, stays := shown(who); !stays {
			t.Errorf("%s is refused", who)
		}
	}
}

// TestTheSocketKeepsRoomForItsOwner: agents on the socket have a part of its connections, and TCP has none of them.
func TestTheSocketKeepsRoomForItsOwner(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 2, address: 2, anonymous: 2, socket: 4, agents: 2, agent: 2})}
	for range 5 {
		c.must("10.0.0.1").inUse(1)
	}
	for _, who := range []string{"arya", "gendry"} {
		agent := c.must("")
		if !agent.setPeer(false, who) {
			t.Fatal("an agent was refused")
		}
		agent.asks()
	}
	if third := c.must(""); third.setPeer(false, "ned") {
		t.Error("agents got more than they may")
	}
	for range 2 {
		owner := c.must("")
		if !owner.setPeer(true, "") {
			t.Error("the owner was refused")
		}
		owner.asks()
	}
}

// asks begins a request with a good credential.
func (c *conn) asks() {
	c.inUse(1)
	if c.owner {
		c.noteCaller(parley.Owner)
		return
	}
	c.noteCaller(c.agent)
}

// TestOneAgentKeepsNoOtherFromTheSocket, however many calls the processes of its runs have under way.
func TestOneAgentKeepsNoOtherFromTheSocket(t *testing.T) {
	c := connDialer{t, newConns(newConnLimits(0, 4096, 2048))}
	var taken int
	for range maxLocal {
		greedy := c.must("")
		if !greedy.setPeer(false, "arya") {
			continue
		}
		greedy.asks()
		taken++
	}
	if other := c.must(""); taken != c.conns.agent || !other.setPeer(false, "gendry") {
		t.Errorf("one agent has %d connections, and another one is refused", taken)
	}
}

// TestRequestsWithoutACredentialKeepNobodyOut, also on connections by which somebody has shown one before: slow bodies
// for the page where people sign in are nobody's calls under way, so that nothing else bounds them.
func TestRequestsWithoutACredentialKeepNobodyOut(t *testing.T) {
	for _, from := range []string{"10.0.0.1", ""} {
		c := connDialer{t, newConns(connLimits{total: 4, address: 4, anonymous: 4, participant: 4, socket: 4, agents: 4, agent: 4})}
		for range 4 {
			one := c.must(from)
			one.setPeer(false, "arya")
			one.asks()
			one.inUse(-1)
			one.inUse(1) // POST /sign-in
		}
		newest, ok, _ := c.open(from)
		if !ok || from == "" && !newest.setPeer(false, "gendry") {
			t.Errorf("from %q: a new connection is refused", from)
		}
	}
}

// TestAClosedConnectionLeavesRoom, and closing it twice changes nothing.
func TestAClosedConnectionLeavesRoom(t *testing.T) {
	c := connDialer{t, newConns(connLimits{total: 1, address: 1, anonymous: 1, socket: 1, agents: 1})}
	for range 5 {
		one := c.must("10.0.0.1")
		one.inUse(1)
		_ = one.Close()
		_ = one.Close()
	}
	if len(c.conns.open) != 0 {
		t.Errorf("%d are left", len(c.conns.open))
	}
}

// TestARefusedConnectionGetsAReason with the status, the code and a hint.
func TestARefusedConnectionGetsAReason(t *testing.T) {
	ours, theirs := net.Pipe()
	go refuse(theirs)
	response, err := http.ReadResponse(bufio.NewReader(ours), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "1" || string(body) != tooManyAnswer {
		t.Errorf("got %v %v %s %v", response.Status, response.Header, body, err)
	}
}

// TestTheOwnerIsAnsweredWhileAnonymousConnectionsAreHeld opens far more connections than the hub takes.
func TestTheOwnerIsAnsweredWhileAnonymousConnectionsAreHeld(t *testing.T) {
	s := start(t, options(t, map[string]string{"connections.total": "20", "connections.address": "20"}))
	defer stop(t, s)
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for i := range 200 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.about.Address)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if i%2 == 0 {
			_, _ = fmt.Fprint(c, "GET /v1/who HTTP/1.1\r\n") // and no more
		}
	}
	for range 3 {
		if status, body := get(t, s, "/v1/whoami", s.about.Socket); status != http.StatusOK {
			t.Errorf("by the socket: %d %s", status, body)
		}
		if status, _ := get(t, s, "/healthz", ""); status != http.StatusOK {
			t.Errorf("by TCP: %d", status)
		}
	}
	open := 0
	for _, c := range held {
		if stillOpen(t.Context(), c) {
			open++
		}
	}
	if open > 20 {
		t.Errorf("%d connections of strangers are open", open)
	}
}

// stillOpen reports whether the hub has not closed a connection, by trying to read from it.
func stillOpen(ctx context.Context, c net.Conn) bool {
	ended := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer ended()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	open := true
	err = raw.Read(func(fd uintptr) bool {
		open = !atEnd(fd)
		return true
	})
	return open && !errors.Is(err, net.ErrClosed)
}

// TestTheLimitsAreThoseOfTheDocumentation, and what is configured by default is what a hub has that configures nothing.
func TestTheLimitsAreThoseOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	few := newConnLimits(256, 4096, 2048)
	for _, row := range []string{
		fmt.Sprintf("| connections without a credential | %d |", maxAnonymous),
		fmt.Sprintf("| connections of one participant over TCP, other than the owner | %d |", maxPerParticipant),
		fmt.Sprintf("| connections by the socket | %d, agents %d, one agent %d |", maxLocal, maxLocal/2, maxLocal*3/8),
		fmt.Sprintf("with 256 descriptors there are %d connections over TCP and %d by the socket", few.total, few.socket),
	} {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/security.md has no row %q", row)
		}
	}
	want := hub.DefaultLoad()
	want.AllSearching, want.AllWaiting = 0, 0 // nobody configures them
	if got := hubLoad(options(t, nil).Config); got != want {
		t.Errorf("the defaults are %+v, the hub's own are %+v", got, want)
	}
}

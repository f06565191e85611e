package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"sync"
	"testing"
)

// proxy stands between a hub and its server and cuts connections where it is told to.
type proxy struct {
	listener net.Listener
	server   string
	cut      func(data []byte, fromServer bool) bool // asked before anything is passed on

	group sync.WaitGroup
	mu    sync.Mutex
	open  []net.Conn
}

func newProxy(t *testing.T, server string, cut func(data []byte, fromServer bool) bool) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: server, cut: cut}
	p.group.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, c := range p.open {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.group.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		hub, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = hub.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, hub, server)
		p.mu.Unlock()
		p.group.Go(func() { p.pass(server, hub, false) })
		p.group.Go(func() { p.pass(hub, server, true) })
	}
}

// pass copies until one side ends or the connection is cut, and then ends both.
func (p *proxy) pass(to, from net.Conn, fromServer bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	data := make([]byte, 64<<10)
	for {
		n, err := from.Read(data)
		if err != nil || p.cut(data[:n], fromServer) {
			return
		}
		if _, err := to.Write(data[:n]); err != nil {
			return
		}
	}
}

// asksToCommit and saysCommitted know a COMMIT on the wire: its statement by the name it was prepared
// under, its answer by its text.
func asksToCommit(data []byte, fromServer bool) bool {
	digest := sha256.Sum256([]byte("COMMIT"))
	return !fromServer && bytes.Contains(data, []byte("stmtcache_"+hex.EncodeToString(digest[:])[:16]))
}

func saysCommitted(data []byte, fromServer bool) bool {
	return fromServer && bytes.Contains(data, []byte("COMMIT\x00"))
}

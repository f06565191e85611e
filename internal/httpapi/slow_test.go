package httpapi_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// piped is one end of a pipe that looks like a connection from this machine.
type piped struct{ net.Conn }

func (piped) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717} }

// TestSlowBodies: whoever sends the body of a request not at all, or by drops, is cut off, known or not.
func TestSlowBodies(t *testing.T) {
	const (
		host = " HTTP/1.1\r\nHost: 127.0.0.1:7717\r\n"
		json = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
		form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\nSec-Fetch-Site: same-origin\r\n\r\n"
	)
	for name, test := range map[string]struct {
		head  string
		known bool
	}{
		"nobody":                      {"POST /v1/messages" + host + json, false},
		"somebody":                    {"POST /v1/messages" + host + json, true},
		"by another name":             {"POST /v1/messages HTTP/1.1\r\nHost: evil.example.org\r\n" + json, false},
		"at no path":                  {"POST /nothing" + host + json, true},
		"a form":                      {"POST /sign-in" + host + form, false},
		"a body nobody has asked for": {"GET /healthz" + host + json, false},
		"in chunks":                   {"POST /v1/messages" + host + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", false},
	} {
		for _, drip := range []time.Duration{time.Hour, time.Second} {
			t.Run(name+" every "+drip.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if took := endures(t, test.head, test.known, drip); took > time.Minute {
						t.Errorf("it was heard for %v", took)
					}
				})
			})
		}
	}
}

// endures is how long a server listens to one who has sent the head of a request, and of its body a byte now
// and then.
func endures(t *testing.T, head string, known bool, drip time.Duration) time.Duration {
	t.Helper()
	door := newPipes()
	newServedHubAt(t, door, func(o *httpapi.Options) {
		o.Peer = func(context.Context) (hub.Connection, error) {
			return hub.Connection{Socket: known, TCP: !known, Agent: parley.Owner}, nil
		}
	})
	ours, theirs := net.Pipe()
	door.conns <- piped{theirs}
	began := time.Now()
	var sender sync.WaitGroup
	defer sender.Wait()
	sender.Go(func() {
		_, err := io.WriteString(ours, head)
		for ; err == nil && time.Since(began) < time.Hour; time.Sleep(drip) {
			_, err = ours.Write([]byte("1"))
		}
		_ = ours.Close() // it was heard to the end
	})
	_, _ = io.Copy(io.Discard, ours)
	return time.Since(began)
}

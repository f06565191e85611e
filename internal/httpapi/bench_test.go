package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const writers = 64

var line = []byte(`{"conversation":"square","content":{"text":"Is the build green? It was when I looked an hour ago, but much has happened since."}}`)

// BenchmarkPost compares posts over HTTP, by clients that keep their connections, with the same in process.
func BenchmarkPost(b *testing.B) {
	b.Run("in process", func(b *testing.B) {
		w := newServedHub(b)
		caller := hub.Caller{Agent: "arya", Source: "api"}
		together(b, func() {
			_, err := w.Post(ctx, caller, parley.Draft{Conversation: "square", Content: parley.Content{
				Text: "Is the build green? It was when I looked an hour ago, but much has happened since.",
			}})
			w.NoError(err)
		})
	})
	b.Run("HTTP", func(b *testing.B) {
		w := newServedHub(b)
		idle := make(chan *connection, writers)
		for range writers {
			idle <- w.connect()
		}
		together(b, func() {
			c := <-idle
			if status := c.post(w); status != http.StatusCreated {
				b.Errorf("status %d", status)
			}
			idle <- c
		})
		for range writers {
			_ = (<-idle).Close()
		}
	})
}

// connection is a client that costs little, so that it is the hub that is measured.
type connection struct {
	net.Conn
	answers *bufio.Reader
	request []byte
}

func (w *servedHub) connect() *connection {
	w.T.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	w.NoError(err)
	request := fmt.Sprintf("POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		w.port(), w.tokens["arya"], len(line), line)
	return &connection{conn, bufio.NewReader(conn), []byte(request)}
}

func (c *connection) post(w *servedHub) int {
	w.T.Helper()
	_, err := c.Write(c.request)
	w.NoError(err)
	res, err := http.ReadResponse(c.answers, nil)
	w.NoError(err)
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	w.NoError(err)
	return res.StatusCode
}

// together does something as often as the benchmark says, by many at once.
func together(b *testing.B, do func()) {
	b.Helper()
	b.ReportAllocs()
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan struct{})
	b.ResetTimer()
	for range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			for left.Add(-1) >= 0 {
				do()
			}
		}()
	}
	for range writers {
		<-done
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}

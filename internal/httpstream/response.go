package httpstream

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// maxBuffered is how much of an answer is collected until it is sent. A shorter answer has a length.
	maxBuffered = 4 << 10
	// chunkHead is the beginning of each chunk. The real length takes its place.
	chunkHead = "00000000\r\n"
	maxKept   = 64 << 10 // of a buffer for the next chunk
	// endTime is how long a client may take to read the end of its answer.
	endTime = 20 * time.Second
)

// chunks are empty buffers, so that an idle stream has none.
var chunks = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// response is the answer to one request, on a connection that closes after it.
type response struct {
	conn   net.Conn
	header http.Header
	cancel context.CancelFunc // ends the request

	status int           // 0: not decided
	sent   bool          // the head was sent, and the body follows in chunks
	chunk  *bytes.Buffer // what was not sent yet, after a chunkHead; nil: nothing
	err    error         // of sending
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.err != nil {
		return 0, w.err
	}
	if w.chunk == nil {
		w.chunk = chunks.Get().(*bytes.Buffer)
		w.chunk.WriteString(chunkHead)
	}
	w.chunk.Write(p)
	if w.chunk.Len() > maxBuffered {
		return len(p), w.FlushError()
	}
	return len(p), nil
}

// FlushError sends what was written. http.ResponseController calls it.
func (w *response) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if !w.sent {
		w.sent = true
		w.header.Set("Transfer-Encoding", "chunked")
		w.send(w.head())
	}
	if w.chunk != nil {
		length := w.chunk.Len() - len(chunkHead)
		w.chunk.WriteString("\r\n")
		copy(w.chunk.Bytes(), fmt.Sprintf("%08x", length))
		w.send(w.chunk.Bytes())
		w.dropChunk()
	}
	return w.err
}

func (w *response) dropChunk() {
	if w.chunk.Cap() <= maxKept {
		w.chunk.Reset()
		chunks.Put(w.chunk)
	}
	w.chunk = nil
}

// SetWriteDeadline limits the time of sending. http.ResponseController calls it.
func (w *response) SetWriteDeadline(t time.Time) error { return w.conn.SetWriteDeadline(t) }

// head returns the status line and the header.
func (w *response) head() []byte {
	w.header.Set("Connection", "close")
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var out bytes.Buffer
	out.WriteString("HTTP/1.1 " + strconv.Itoa(w.status) + " " + http.StatusText(w.status) + "\r\n")
	_ = w.header.Write(&out) // a buffer takes everything
	out.WriteString("\r\n")
	return out.Bytes()
}

func (w *response) send(p []byte) {
	if w.err == nil {
		_, w.err = w.conn.Write(p)
	}
}

// end sends the rest of a complete answer, and closes the connection. A client that gets no last chunk knows that the answer was cut off.
func (w *response) end(complete bool) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(endTime)) // that of the handler may be over, or missing
	switch {
	case !complete:
	case w.sent:
		_ = w.FlushError() // send knows it
		w.send([]byte("0\r\n\r\n"))
	default:
		w.sendWhole()
	}
	w.cancel()
	_ = w.conn.Close() // the answer is complete, or lost
}

// sendWhole sends an answer of which nothing was sent, with its length.
func (w *response) sendWhole() {
	w.WriteHeader(http.StatusOK)
	var body []byte
	if w.chunk != nil {
		body = w.chunk.Bytes()[len(chunkHead):]
	}
	if w.status != http.StatusNoContent && w.status != http.StatusNotModified {
		w.header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.send(append(w.head(), body...))
}

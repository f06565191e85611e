package mcpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a connection whose messages are lines of JSON. In contrast to that of the SDK, it survives a line that is no message: the
// client gets an error. At the end of the input it answers the calls that have begun, so that a client may close its end early.
type lines struct {
	in    io.ReadCloser
	out   io.Writer
	lines chan line
	plain *lineCalls

	write   sync.Mutex
	pending sync.Mutex // guards the fields below
	calls   map[jsonrpc.ID]bool
	hello   jsonrpc.ID    // the handshake of an earlier revision
	begun   bool          // it has succeeded
	idle    chan struct{} // closed when calls is empty after the end of the input; nil before the end

	closed    chan struct{}
	closeOnce sync.Once
}

type line struct {
	text []byte
	err  error
}

// drainTime is how long calls may take after the end of the input.
const drainTime = 2 * time.Second

// Connect implements mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	l.lines, l.closed, l.calls = make(chan line), make(chan struct{}), map[jsonrpc.ID]bool{}
	go l.scan()
	return l, nil
}

// scan reads lines until the end of the input. A read of standard input cannot be interrupted, so it has a goroutine of its own.
func (l *lines) scan() {
	in := bufio.NewReaderSize(l.in, 64<<10)
	for {
		text, err := readLine(in)
		select {
		case l.lines <- line{text, err}:
		case <-l.closed:
			return
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return
		}
	}
}

var errLongLine = errors.New("the message is larger than 1 MiB")

// readLine reads one line of at most MaxBody bytes. It skips the rest of a longer one.
func readLine(in *bufio.Reader) (text []byte, err error) {
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > MaxBody {
			text, tooLong = nil, true
		}
		if !tooLong {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && err == nil:
			return nil, errLongLine
		case err != nil && len(bytes.TrimSpace(text)) > 0 && errors.Is(err, io.EOF):
			return text, nil // the last line needs no line end
		default:
			return text, err
		}
	}
}

// Read returns the next message.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case next := <-l.lines:
			if next.err != nil && !errors.Is(next.err, errLongLine) {
				l.drain(ctx)
				return nil, next.err
			}
			if len(bytes.TrimSpace(next.text)) == 0 && next.err == nil {
				continue
			}
			if next.err == nil && l.plain.take(l, next.text, l.hasBegun()) {
				continue
			}
			message, err := jsonrpc.DecodeMessage(next.text)
			if err = errors.Join(next.err, err); err != nil {
				if err := l.refuse(err); err != nil {
					return nil, err
				}
				continue
			}
			l.note(message)
			return message, nil
		case <-l.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// refuse answers a line that is no message.
func (l *lines) refuse(err error) error {
	text := "the line is no JSON-RPC message"
	if errors.Is(err, errLongLine) {
		text = errLongLine.Error()
	}
	return l.send([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"` + text + `"}}`))
}

// note remembers a call until it is answered.
func (l *lines) note(message jsonrpc.Message) {
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
		if call.Method == "initialize" {
			l.pending.Lock()
			l.hello = call.ID
			l.pending.Unlock()
		}
		l.begin(call.ID)
	}
}

func (l *lines) begin(call jsonrpc.ID) {
	l.pending.Lock()
	defer l.pending.Unlock()
	l.calls[call] = true
}

func (l *lines) hasBegun() bool {
	l.pending.Lock()
	defer l.pending.Unlock()
	return l.begun
}

// drain waits for the answers to the calls that have begun.
func (l *lines) drain(ctx context.Context) {
	l.pending.Lock()
	idle := make(chan struct{})
	if l.idle = idle; len(l.calls) == 0 {
		close(idle)
		l.idle = nil
	}
	l.pending.Unlock()
	select {
	case <-idle:
	case <-time.After(drainTime):
	case <-ctx.Done():
	}
}

// Write sends a message.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	answer, ok := message.(*jsonrpc.Response)
	if ok && answer.Error == nil {
		l.pending.Lock()
		l.begun = l.begun || l.hello.IsValid() && l.hello == answer.ID
		l.pending.Unlock()
	}
	if err := l.send(text); err != nil {
		return err
	}
	if ok {
		l.answered(answer.ID)
	}
	return nil
}

func (l *lines) answered(id jsonrpc.ID) {
	l.pending.Lock()
	defer l.pending.Unlock()
	delete(l.calls, id)
	if len(l.calls) == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

func (l *lines) send(text []byte) error {
	l.write.Lock()
	defer l.write.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	return err
}

// Close ends the connection.
func (l *lines) Close() error {
	l.closeOnce.Do(func() { close(l.closed) })
	return l.in.Close()
}

// SessionID returns "", because a connection of lines has no session of the protocol.
func (*lines) SessionID() string { return "" }

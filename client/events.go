package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Kinds of what a stream tells beside the events of the hub.
const (
	EventReady parley.EventKind = "ready" // connected: what happens from now on comes
	EventReset parley.EventKind = "reset" // what happened meanwhile is not known any more; the stream goes on from the newest
)

// EventsOptions select events. The zero value is everything the caller may see from now on.
type EventsOptions struct {
	After        int64    // go on after this event
	Past         bool     // without After: also everything that is still known of what happened before
	Kinds        []string // whole kinds, or what comes before a dot: delivery, message.posted
	Conversation string
	Bodies       bool // what was posted comes with its event
}

const (
	maxEvent   = 8 << 20          // bytes of one event
	maxSilence = 50 * time.Second // three heartbeats
	shortPause = 200 * time.Millisecond
	longPause  = 10 * time.Second
)

// Events yields what happens. It connects again by itself and goes on where it was, without gap or repeat.
// An error that may pass is yielded whenever the connection is lost, and the sequence goes on; it ends with
// the context, or after an error that will not pass.
func (c *Client) Events(ctx context.Context, o EventsOptions) iter.Seq2[parley.Event, error] {
	return func(yield func(parley.Event, error) bool) {
		s := stream{client: c, options: o, last: o.After, pause: shortPause, yield: yield}
		for ctx.Err() == nil {
			err := s.connect(ctx)
			if s.stopped || ctx.Err() != nil || !yield(parley.Event{}, err) || !isTemporary(err) {
				return
			}
			// Not all come back at the same moment.
			select {
			case <-time.After(max(rand.N(s.pause)+s.pause/2, parley.AsError(err).RetryAfter)):
			case <-ctx.Done():
			}
			s.pause = min(2*s.pause, longPause)
		}
	}
}

func isTemporary(err error) bool {
	code := parley.CodeOf(err)
	return code == parley.Unavailable || code == parley.TimedOut || code == parley.Internal
}

// stream is a sequence of events over one connection after the other.
type stream struct {
	client  *Client
	options EventsOptions
	last    int64 // the number to go on after
	pause   time.Duration
	yield   func(parley.Event, error) bool
	stopped bool // nobody wants more
}

// connect reads one connection to its end, and says why it has ended.
func (s *stream) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := query("conversation", s.options.Conversation, "kinds", strings.Join(s.options.Kinds, ","), "after", count(s.last))
	if s.options.Past && s.last == 0 {
		q.Set("after", "0")
	}
	if s.options.Bodies {
		q.Set("include", "message")
	}
	body, err := s.client.open(ctx, request{method: http.MethodGet, query: q}, "events")
	if err != nil {
		return s.connectionLost(err)
	}
	defer func() { _ = body.Close() }()
	watch := time.AfterFunc(maxSilence, cancel)
	defer watch.Stop()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var b eventBlock
	for lines.Scan() {
		watch.Reset(maxSilence)
		if b.add(lines.Text()) {
			continue
		}
		if err := s.dispatch(b); err != nil || s.stopped {
			return err
		}
		b = eventBlock{}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return s.client.notAHub("an event has more than %d bytes", maxEvent)
	}
	return s.connectionLost(errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}

// lost is why there is no connection.
func (s *stream) connectionLost(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	return s.client.connectionError(err)
}

// dispatch passes on what a block says.
func (s *stream) dispatch(b eventBlock) error {
	var e parley.Event
	if b.data != "" { // else it is a heartbeat
		if err := json.Unmarshal([]byte(b.data), &e); err != nil {
			return s.client.notAHub("an event that is none").From(err)
		}
	}
	switch kind := parley.EventKind(b.kind); kind {
	case EventReady, EventReset:
		s.pause, e.Kind = shortPause, kind
		if kind == EventReset || s.last == 0 { // else what comes next is what was missed
			s.last = e.Num
		}
	default:
		if num, err := strconv.ParseInt(b.id, 10, 64); err == nil {
			s.last = num
		}
	}
	s.stopped = b.data != "" && !s.yield(e, nil)
	return nil
}

// block is the lines of one event.
type eventBlock struct{ id, kind, data string }

// add takes in a line. It is false for the empty one that ends a block.
func (b *eventBlock) add(line string) bool {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		b.id = value
	case "event":
		b.kind = value
	case "data":
		b.data += value
	}
	return line != ""
}

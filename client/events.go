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

// Kinds of entries in a stream of events that describe the stream itself.
const (
	EventReady parley.EventKind = "ready"           // the client is connected: the stream has every event from now on
	EventReset                  = parley.EventReset // the hub has removed events since After; the stream continues with the newest
)

// EventsOptions select events. The zero value selects all events from now on that the caller may see.
type EventsOptions struct {
	After        int64    // continue after the event with this number
	Past         bool     // without After: begin with the first event; if the hub has removed it, EventReset comes instead
	Kinds        []string // only these kinds; a kind includes all kinds that begin with it and a dot: delivery, message.posted
	Conversation string   // only events of this conversation
	Bodies       bool     // add the message to each message.posted event, as Body
}

const (
	maxEvent   = 8 << 20          // bytes of one event
	maxSilence = 50 * time.Second // three heartbeats
	shortPause = 200 * time.Millisecond
	longPause  = 10 * time.Second
)

// Events yields the events of the hub. When the connection breaks, Events yields a temporary error, reconnects, and continues
// after the last event, without gaps or repeats. It ends when ctx is done, or after an error that is not temporary.
func (c *Client) Events(ctx context.Context, o EventsOptions) iter.Seq2[parley.Event, error] {
	return func(yield func(parley.Event, error) bool) {
		s := stream{client: c, options: o, last: o.After, pause: shortPause, yield: yield}
		for ctx.Err() == nil {
			err := s.connect(ctx)
			if s.stopped || ctx.Err() != nil || !yield(parley.Event{}, err) || !isTemporary(err) {
				return
			}
			// The random part keeps clients from reconnecting all at the same moment.
			select {
			case <-time.After(max(rand.N(s.pause)+s.pause/2, parley.AsError(err).RetryAfter)):
			case <-ctx.Done():
			}
			s.pause = min(2*s.pause, longPause)
		}
	}
}

// isTemporary reports whether reconnecting can help after an error.
func isTemporary(err error) bool {
	code := parley.CodeOf(err)
	return code == parley.Unavailable || code == parley.TimedOut || code == parley.Internal
}

// stream is a sequence of events, over as many connections as it needs.
type stream struct {
	client  *Client
	options EventsOptions
	last    int64 // the number of the last event
	pause   time.Duration
	yield   func(parley.Event, error) bool
	stopped bool // yield has returned false
}

// connect yields the events of one connection, and returns the error that ended it.
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

// connectionLost returns the error of a connection that cannot be made or that broke.
func (s *stream) connectionLost(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	return s.client.connectionError(err)
}

// dispatch yields the event of a block.
func (s *stream) dispatch(b eventBlock) error {
	var e parley.Event
	if b.data != "" { // otherwise it is a heartbeat
		if err := json.Unmarshal([]byte(b.data), &e); err != nil {
			return s.client.notAHub("an event that is not JSON").From(err)
		}
	}
	switch kind := parley.EventKind(b.kind); kind {
	case EventReady, EventReset:
		s.pause, e.Kind = shortPause, kind
		if kind == EventReset || s.last == 0 { // otherwise events after last follow
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

// eventBlock has the fields of one server-sent event.
type eventBlock struct{ id, kind, data string }

// add adds a line. It returns false for the empty line that ends a block.
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

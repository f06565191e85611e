package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	heartbeat = 15 * time.Second // the longest silence of a stream
	sendTime  = 10 * time.Second // how long a reader may take to read one write
	sendBytes = 256 << 10        // a buffer of this size is sent before more is added
)

type eventsInput struct {
	After        string `query:"after" pattern:"^[0-9]+$" doc:"The number of the last known event. The header Last-Event-ID takes precedence. Without either, the stream starts with the next event." example:"1042"`
	Kinds        string `query:"kinds" doc:"Only events of these kinds, separated by commas. A kind includes all kinds that begin with it and a dot: delivery, message.posted." example:"message,delivery.dead"`
	Conversation string `query:"conversation" doc:"Only events of this conversation."`
	Include      string `query:"include" enum:"message" doc:"message adds the message to each message.posted event, as body."`
	LastEventID  string `header:"Last-Event-ID" doc:"The id of the last event received. The stream continues after it, without gaps or repeats."`
}

// eventStream is the stream of events to one reader.
type eventStream struct {
	*call
	out    http.ResponseWriter
	filter parley.EventFilter
	bodies bool
	begun  bool
}

// events sends events as they happen, until the reader disconnects or is too slow, or until its credential becomes invalid. The
// first event is ready, with the number that the stream continues from. If the reader requested another number, reset comes
// before ready.
func events(w http.ResponseWriter, r *http.Request, c *call, in *eventsInput) error {
	f := eventStream{call: c, out: w, bodies: in.Include == "message", filter: in.filter()}
	after, err := in.position()
	if err != nil {
		return err
	}
	if in.Include != "" && !f.bodies {
		return parley.Errorf(parley.BadInput, "%q cannot be included", shorten(in.Include)).Suggest("include message, or nothing")
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return nil
	}
	if c.local && c.caller.By == "" {
		defer c.options.Attach(r.Context(), c.caller.Agent)()
	}
	_, err = whileValid(r.Context(), c, func(ctx context.Context) (struct{}, error) { return struct{}{}, f.run(ctx, after) })
	if !f.begun {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.options.Log.Info("a reader of events is too slow; the hub closes its connection", "agent", c.caller.Agent)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the connection can serve another request
	return nil
}

func (in *eventsInput) filter() parley.EventFilter {
	filter := parley.EventFilter{Conversation: in.Conversation}
	if in.Kinds == "" {
		return filter
	}
	for kind := range strings.SplitSeq(in.Kinds, ",") {
		filter.Kinds = append(filter.Kinds, parley.EventKind(kind))
	}
	return filter
}

// position returns the number of the event after which the stream starts; nil means the newest event.
func (in *eventsInput) position() (*int64, error) {
	name, text := "Last-Event-ID", in.LastEventID
	if text == "" {
		name, text = "after", in.After
	}
	if text == "" {
		return nil, nil
	}
	after, err := strconv.ParseInt(text, 10, 64)
	if err != nil || after < 0 {
		return nil, parley.Errorf(parley.BadInput, "%s cannot be %q", name, shorten(text)).Suggest("send the id of an event")
	}
	return &after, nil
}

// run follows the event log. If the log no longer has the reader's position, run continues from the end of the log.
func (f *eventStream) run(ctx context.Context, after *int64) error {
	for {
		sub, from, err := f.subscribe(ctx, after)
		if err != nil {
			return err
		}
		upTo, err := f.follow(ctx, sub, from, after != nil && *after != from)
		sub.Close()
		if parley.AsError(err).Reason != parley.NotFound {
			return err
		}
		after = &upTo
	}
}

// subscribe follows the event log from the reader's position, or from its end if the log does not have the position. It
// returns the position from which it follows.
func (f *eventStream) subscribe(ctx context.Context, after *int64) (*hub.Subscription, int64, error) {
	if after != nil {
		sub, err := f.hub.Subscribe(ctx, f.caller, *after, f.filter)
		if err == nil || parley.AsError(err).Reason != parley.NotFound {
			return sub, *after, err
		}
	}
	newest, err := f.hub.LastEvent(ctx, f.caller)
	if err != nil {
		return nil, 0, err
	}
	sub, err := f.hub.Subscribe(ctx, f.caller, newest, f.filter)
	return sub, newest, err
}

// follow sends the events of a subscription. After a silence it sends the position of the subscription.
func (f *eventStream) follow(ctx context.Context, sub *hub.Subscription, from int64, reset bool) (upTo int64, err error) {
	if err := f.sendReady(from, reset); err != nil {
		return from, err
	}
	beat := time.AfterFunc(heartbeat, sub.Nudge)
	defer beat.Stop()
	for {
		list, upTo, err := sub.Next(ctx)
		if err == nil {
			err = f.sendEvents(ctx, list, upTo)
		}
		if err == nil {
			if unmarked := sub.MarkDelivered(ctx, list); unmarked != nil {
				f.options.Log.Warn("cannot mark messages as delivered to a person; the stream continues", "agent", f.caller.Agent, "error", unmarked)
			}
		}
		if err != nil {
			return upTo, err
		}
		beat.Reset(heartbeat)
	}
}

// resumeHint is sent first, because the hub cannot send it to a reader that has stopped reading.
const resumeHint = ": If this stream ends, or is cut off because you read too slowly, connect again with the id of the last event " +
	"as Last-Event-ID (or ?after=). It goes on without gap or repeat.\n"

func (f *eventStream) sendReady(from int64, reset bool) error {
	b := buffers.Get().(*bytes.Buffer)
	defer putBuffer(b)
	b.WriteString(resumeHint)
	position := encode(map[string]int64{"num": from})
	if reset {
		writeBlock(b, from, "reset", position)
	}
	writeBlock(b, from, "ready", position)
	return f.send(b)
}

func (f *eventStream) sendEvents(ctx context.Context, list []parley.Event, upTo int64) error {
	b := buffers.Get().(*bytes.Buffer)
	defer putBuffer(b)
	switch {
	case len(list) == 0: // clients ignore a block without data, but remember its id
		b.WriteString(":\nid: " + strconv.FormatInt(upTo, 10) + "\n\n")
	case f.bodies:
		if err := f.writeWithBodies(ctx, b, list); err != nil {
			return err
		}
	default:
		for _, e := range list {
			b.Write(f.lines.of(e))
		}
	}
	return f.send(b)
}

// send sends and empties a buffer. It returns os.ErrDeadlineExceeded if the reader does not read.
func (f *eventStream) send(b *bytes.Buffer) error {
	f.begun = true
	control := http.NewResponseController(f.out)
	_ = control.SetWriteDeadline(time.Now().Add(sendTime)) // only a real connection has one
	if _, err := f.out.Write(b.Bytes()); err != nil {
		return err
	}
	b.Reset()
	return control.Flush()
}

// writeWithBodies writes events, and adds to message.posted events the messages that the caller may read. When the buffer is
// large, writeWithBodies sends it.
func (f *eventStream) writeWithBodies(ctx context.Context, b *bytes.Buffer, list []parley.Event) error {
	var rest []string // ids of posted messages that are not read yet
	for _, e := range list {
		if e.Kind == parley.EventMessagePosted {
			rest = append(rest, e.Message)
		}
	}
	var bodies []parley.Message
	for _, e := range list {
		if len(rest) > 0 && e.Message == rest[0] {
			var err error
			if bodies, rest, err = f.hub.Messages(ctx, f.caller, rest); err != nil {
				return err
			}
		}
		if len(bodies) > 0 && e.Kind == parley.EventMessagePosted && e.Message == bodies[0].ID {
			e.Body, bodies = &bodies[0], bodies[1:]
		}
		writeBlock(b, e.Num, string(e.Kind), encode(e))
		if b.Len() >= sendBytes {
			if err := f.send(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBlock writes one server-sent event.
func writeBlock(b *bytes.Buffer, id int64, kind string, data []byte) {
	b.WriteString("id: ")
	b.WriteString(strconv.FormatInt(id, 10))
	b.WriteString("\nevent: ")
	b.WriteString(kind)
	b.WriteString("\ndata: ")
	b.Write(data)
	b.WriteString("\n\n")
}

// encode returns a value as JSON without line breaks. It panics if the value has no JSON, which is a defect.
func encode(v any) []byte {
	raw, err := json.Marshal(v, writeOptions)
	if err != nil {
		panic(err)
	}
	return raw
}

// eventLines caches the newest events as they are sent, so that each event is encoded once for all its readers.
type eventLines struct {
	mu   sync.Mutex
	kept [512]struct {
		num  int64
		line []byte
	}
}

func (l *eventLines) of(e parley.Event) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := &l.kept[e.Num%int64(len(l.kept))]
	if kept.num == e.Num {
		return kept.line
	}
	b := &bytes.Buffer{}
	writeBlock(b, e.Num, string(e.Kind), encode(e))
	if e.Num > kept.num { // few readers read old events
		kept.num, kept.line = e.Num, b.Bytes()
	}
	return b.Bytes()
}

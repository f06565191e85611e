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
	heartbeat = 15 * time.Second // how long a stream is silent at most
	sendTime  = 10 * time.Second // how long a reader may take to read what it is sent
	sendBytes = 256 << 10        // how much is sent at once, at least, where there is more
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
	call
	out    http.ResponseWriter
	filter parley.EventFilter
	bodies bool
	begun  bool
}

// events sends what happens, as it happens, until the reader has gone, is too slow, or must not be served
// any more. The first event is ready, with the number the stream goes on from; if that is not the number
// the reader asked for, reset comes before it.
func events(w http.ResponseWriter, r *http.Request, c call, in *eventsInput) error {
	f := eventStream{call: c, out: w, bodies: in.Include == "message", filter: in.filter()}
	after, err := in.position()
	if err != nil {
		return err
	}
	if in.Include != "" && !f.bodies {
		return parley.Errorf(parley.BadInput, "%q cannot be included", clip(in.Include)).Suggest("include message, or nothing")
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
		c.options.Log.Info("a reader of events was too slow, and is cut off", "agent", c.caller.Agent)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the connection may be used again
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

// position is where the reader goes on from; nil: from now.
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
		return nil, parley.Errorf(parley.BadInput, "%s cannot be %q", name, clip(text)).Suggest("send the id of an event")
	}
	return &after, nil
}

// run follows the log, and goes on from its end if it does not reach back to the reader.
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

// subscribe follows the log from where the reader wants, or else from its end.
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

// follow sends what a subscription has, and where it is when it has had nothing for a while.
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
			if unmarked := sub.Sent(ctx, list); unmarked != nil {
				f.options.Log.Warn("what was sent to a person is not marked as delivered", "agent", f.caller.Agent, "error", unmarked)
			}
		}
		if err != nil {
			return upTo, err
		}
		beat.Reset(heartbeat)
	}
}

// resumeHint is said first: to a reader that is cut off because it does not read, nothing can be said any more.
const resumeHint = ": If this stream ends, or is cut off because you read too slowly, connect again with the id of the last event " +
	"as Last-Event-ID (or ?after=). It goes on without gap or repeat.\n"

func (f *eventStream) sendReady(from int64, reset bool) error {
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	b.WriteString(resumeHint)
	position := encoded(map[string]int64{"num": from})
	if reset {
		writeBlock(b, from, "reset", position)
	}
	writeBlock(b, from, "ready", position)
	return f.send(b)
}

func (f *eventStream) sendEvents(ctx context.Context, list []parley.Event, upTo int64) error {
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	switch {
	case len(list) == 0: // a block without data tells nobody anything, but moves the last id on
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

// send writes what a buffer holds and empties it. os.ErrDeadlineExceeded if the reader does not read.
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

// writeWithBodies writes events, those of messages with what was posted, as far as the caller may read it.
// Where that is much, it sends some of it.
func (f *eventStream) writeWithBodies(ctx context.Context, b *bytes.Buffer, list []parley.Event) error {
	var rest []string // posted, and not looked up yet
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
		writeBlock(b, e.Num, string(e.Kind), encoded(e))
		if b.Len() >= sendBytes {
			if err := f.send(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBlock writes one event as it is sent.
func writeBlock(b *bytes.Buffer, id int64, kind string, data []byte) {
	b.WriteString("id: ")
	b.WriteString(strconv.FormatInt(id, 10))
	b.WriteString("\nevent: ")
	b.WriteString(kind)
	b.WriteString("\ndata: ")
	b.Write(data)
	b.WriteString("\n\n")
}

// encoded is a value of the hub's own as JSON, which has no line breaks.
func encoded(v any) []byte {
	raw, err := json.Marshal(v, jsonWriting)
	if err != nil {
		panic(err)
	}
	return raw
}

// eventLines keeps the newest events as they are sent, so that each is encoded once for all who get it.
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
	writeBlock(b, e.Num, string(e.Kind), encoded(e))
	if e.Num > kept.num { // an old one is read by few
		kept.num, kept.line = e.Num, b.Bytes()
	}
	return b.Bytes()
}

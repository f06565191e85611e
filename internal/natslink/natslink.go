// Package natslink connects a hub with NATS. It publishes every committed message to JetStream, once and in order, and posts
// messages that clients send to a subject. During an outage of NATS no message is lost and the hub goes on; natslink publishes
// the messages when NATS is reachable again.
package natslink

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/service"
)

// Hub has the calls of a hub that the link uses. They are those of hub.Hub.
type Hub interface {
	Follow(name string, f hub.Follower) *service.Service
	Message(ctx context.Context, caller hub.Caller, id string) (parley.Shown, error)
	Identify(ctx context.Context, secret string) (hub.Caller, error)
	Post(ctx context.Context, caller hub.Caller, draft parley.Draft) (parley.Receipt, error)
	Alert(ctx context.Context, a parley.Alert, on bool) error
}

// Options are the settings of the connection between a hub and NATS. A zero field has its default.
type Options struct {
	URL        string
	Name       string // the name of the hub in subjects
	ID         string // unique to this hub, which recognizes its own stream by it
	Keys       Keys
	Limit      Limit
	Body       int           // the size limit for the text and payload of a message, in bytes
	AlertDelay time.Duration // how long a problem lasts before the hub alerts people; default: 10 s
	Log        *slog.Logger
}

// Limit is how much the stream keeps. A zero field is no limit.
type Limit struct {
	Age    time.Duration
	Bytes  int64
	Window time.Duration // how long the server recognizes repeated ids; default: 2 minutes
}

// Link is a hub's connection to NATS.
type Link struct {
	Options
	hub      Hub
	conn     *nats.Conn
	stream   jetstream.JetStream
	state    *state
	services []*service.Service
}

const (
	cursorName          = "nats"
	defaultAlertDelay   = 10 * time.Second
	defaultWindow       = 2 * time.Minute
	serverTimeout       = 10 * time.Second // for an answer of the server
	firstReconnectDelay = 500 * time.Millisecond
	maxReconnectDelay   = 10 * time.Second // the longest delay between attempts to connect
)

// New connects to NATS. While the server is unreachable, it continues in the background. E003 if the settings cannot be used.
func New(h Hub, o Options) (*Link, error) {
	if o.AlertDelay == 0 {
		o.AlertDelay = defaultAlertDelay
	}
	if o.Limit.Window == 0 {
		o.Limit.Window = defaultWindow
	}
	l := &Link{Options: o, hub: h, state: newState()}
	settings, err := l.settings()
	if err != nil {
		return nil, err
	}
	if l.conn, err = nats.Connect(o.URL, settings...); err != nil {
		return nil, parley.Errorf(parley.BadInput, "cannot use NATS: %w", err).Suggest("check the settings nats.*")
	}
	if l.stream, err = jetstream.New(l.conn, jetstream.WithPublishAsyncTimeout(serverTimeout)); err != nil {
		l.conn.Close()
		return nil, err
	}
	l.services = []*service.Service{
		service.New(l.watch), h.Follow(cursorName, newPublisher(l)), service.New(newReceiver(l).run),
	}
	return l, nil
}

// Start starts publishing and taking messages.
func (l *Link) Start(ctx context.Context) {
	for _, s := range l.services {
		s.Start(ctx)
		<-s.Started()
	}
}

// Stop stops the subscription, answers the requests that were taken, and closes the connection.
func (l *Link) Stop() {
	for i := len(l.services) - 1; i >= 0; i-- {
		l.services[i].Stop()
	}
	l.conn.Close()
}

func (l *Link) subject(parts ...string) string {
	return "parley." + l.Name + "." + strings.Join(parts, ".")
}

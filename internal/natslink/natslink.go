// Package natslink joins a hub and NATS: every message that is committed is published to JetStream once and in order, and
// messages are taken from a subject as from any other door. The database is the record: an outage of NATS delays and loses
// nothing, and holds nobody up.
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

// Hub is what the link needs of a hub.
type Hub interface {
	Follow(name string, f hub.Follower) *service.Service
	Message(ctx context.Context, caller hub.Caller, id string) (parley.Shown, error)
	Identify(ctx context.Context, secret string) (hub.Caller, error)
	Post(ctx context.Context, caller hub.Caller, draft parley.Draft) (parley.Receipt, error)
	Alert(ctx context.Context, a parley.Alert, on bool) error
}

// Options are how a hub is joined to NATS. The zero value of a field means its default.
type Options struct {
	URL   string
	Name  string // of the hub in subjects
	ID    string // that no other hub has; by it a hub knows its own stream
	Keys  Keys
	Limit Limit
	Body  int           // bytes that text and payload of a message may have
	Calm  time.Duration // how long something is amiss before people are told; default: 10 s
	Log   *slog.Logger
}

// Limit is how much the stream keeps. What is 0 does not limit.
type Limit struct {
	Age    time.Duration
	Bytes  int64
	Window time.Duration // within which the server knows repeated ids by itself; default: 2 minutes
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
	cursorName    = "nats"
	defaultCalm   = 10 * time.Second
	defaultWindow = 2 * time.Minute
	serverTimeout = 10 * time.Second // for the server to answer
	firstDelay    = 500 * time.Millisecond
	maxDelay      = 10 * time.Second // pauses between tries to connect double up to it
)

// New connects, or keeps trying in the background while the server is unreachable. E003 if the settings cannot be used.
func New(h Hub, o Options) (*Link, error) {
	if o.Calm == 0 {
		o.Calm = defaultCalm
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
		return nil, parley.Errorf(parley.BadInput, "NATS cannot be used: %w", err).Suggest("look at the settings nats.*")
	}
	if l.stream, err = jetstream.New(l.conn, jetstream.WithPublishAsyncTimeout(serverTimeout)); err != nil {
		l.conn.Close()
		return nil, err
	}
	l.services = []*service.Service{
		service.New(l.watch), h.Follow(cursorName, newOutbox(l)), service.New(newInbox(l).run),
	}
	return l, nil
}

// Start begins to publish and to take messages.
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

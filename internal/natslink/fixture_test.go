package natslink

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// broker is a real NATS server with JetStream on disk, which can be stopped and started again at the same address.
type broker struct {
	t       *testing.T
	options server.Options
	*server.Server
}

func newBroker(t *testing.T, change ...func(*server.Options)) *broker {
	t.Helper()
	b := &broker{t: t, options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: 1 << 20,
	}}
	for _, f := range change {
		f(&b.options)
	}
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	options := b.options
	var err error
	if b.Server, err = server.NewServer(&options); err != nil {
		b.t.Fatal(err)
	}
	b.Start()
	if !b.ReadyForConnections(patience) {
		b.t.Fatal("the server does not start")
	}
	b.options.Port = options.Port
}

func (b *broker) stop() {
	b.Shutdown()
	b.WaitForShutdown()
}

// log is a log that a test can wait for.
type log struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.grown <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

// await waits for a line with words.
func (l *log) await(t *testing.T, words string) {
	t.Helper()
	late := time.After(patience)
	for {
		l.mu.Lock()
		text := l.text.String()
		l.mu.Unlock()
		if strings.Contains(text, words) {
			return
		}
		select {
		case <-l.grown:
		case <-late:
			t.Fatalf("nothing in the log says %q:\n%s", words, text)
		}
	}
}

// linkedHub is a hub that is joined to a server.
type linkedHub struct {
	*hubtest.Fixture
	link    *Link
	logged  *log
	options Options
}

var ctx = context.Background()

func newLinkedHub(t *testing.T, b *broker, change ...func(*Options)) *linkedHub {
	t.Helper()
	w := &linkedHub{logged: &log{grown: make(chan struct{}, 1)}}
	w.options = Options{URL: b.ClientURL(), Name: "local", ID: "this hub", Body: 256 << 10, Limit: Limit{Age: time.Hour}, Log: slog.New(slog.NewTextHandler(w.logged, nil))}
	for _, f := range change {
		f(&w.options)
	}
	w.Fixture = hubtest.New(t, hubtest.SQLite, hubtest.SQLite.NewPlace(t), hubtest.RealTime, func(f *hubtest.Fixture) {
		f.Config.Rate, f.Config.Log = hub.Rate{PerSecond: -1, Burst: 1}, w.options.Log
	})
	w.Start(ctx)
	w.startLink()
	t.Cleanup(func() { w.link.Stop() })
	return w
}

func (w *linkedHub) startLink() {
	w.T.Helper()
	var err error
	w.link, err = New(w.Hub, w.options)
	w.NoError(err)
	w.link.Start(ctx)
}

// restart ends the hub with its link, and starts both again.
func (w *linkedHub) restart() {
	w.T.Helper()
	w.link.Stop()
	w.Restart()
	w.Start(ctx)
	w.startLink()
}

func (w *linkedHub) postAs(from string, d parley.Draft) parley.Message {
	w.T.Helper()
	return w.PostAs(from, d).Message
}

// createChannel makes a channel and returns its id.
func (w *linkedHub) createChannel(name string) string {
	w.T.Helper()
	return w.CreateChannel(parley.Owner, name).ID
}

func (w *linkedHub) sayAsOwner(conversation, text string) parley.Message {
	w.T.Helper()
	return w.SayIn(parley.Owner, conversation, text).Message
}

// reader is somebody else at the server.
type reader struct {
	t    *testing.T
	conn *nats.Conn
	js   jetstream.JetStream
}

func newReader(t *testing.T, b *broker, options ...nats.Option) *reader {
	t.Helper()
	conn, err := nats.Connect(b.ClientURL(), append(options, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t, conn, js}
}

// published is one message as a reader of the stream gets it.
type published struct {
	subject, id, trace string
	seq                int64
	message            parley.Message
	cut                bool
}

// read waits for the n oldest of the stream.
func (r *reader) read(n int) []published {
	r.t.Helper()
	late, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	consumer, err := r.js.OrderedConsumer(late, "PARLEY_local", jetstream.OrderedConsumerConfig{})
	for err != nil && late.Err() == nil { // the stream is not there yet
		consumer, err = r.js.OrderedConsumer(late, "PARLEY_local", jetstream.OrderedConsumerConfig{})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	list := make([]published, 0, n)
	for len(list) < n {
		batch, err := consumer.Fetch(n-len(list), jetstream.FetchContext(late))
		if err != nil {
			r.t.Fatalf("%d of %d were read: %v", len(list), n, err)
		}
		for m := range batch.Messages() {
			list = append(list, r.parse(m.Subject(), m.Headers(), m.Data()))
		}
		if late.Err() != nil {
			r.t.Fatalf("%d of %d were read", len(list), n)
		}
	}
	return list
}

func (r *reader) parse(subject string, header nats.Header, data []byte) (p published) {
	r.t.Helper()
	p.subject, p.id, p.trace, p.cut = subject, header.Get(headerID), header.Get(headerTrace), header.Get(headerCut) != ""
	var err error
	if p.seq, err = strconv.ParseInt(header.Get(headerSeq), 10, 64); err != nil {
		r.t.Fatalf("%s has no number: %v", subject, err)
	}
	if err := json.Unmarshal(data, &p.message); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// count is how many messages the stream has.
func (r *reader) count() uint64 {
	r.t.Helper()
	stream, err := r.js.Stream(ctx, "PARLEY_local")
	if err != nil {
		r.t.Fatal(err)
	}
	return stream.CachedInfo().State.Msgs
}

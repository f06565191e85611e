package natslink

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hubtest"
)

func TestMessageIsPublishedForItsConversationAndItsRecipients(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned")
	m := w.postAs("arya", parley.Draft{Direct: []string{"ned"}, Content: parley.Content{Text: "<héllo> & more"}, TraceID: "0af7651916cd43dd8448eb211c80319c"})
	list := newReader(t, b).read(2)
	for i, want := range []struct{ subject, id string }{
		{"parley.local.conv." + m.Conversation, m.ID},
		{"parley.local.inbox.ned", m.ID + ".ned"},
	} {
		got := list[i]
		if got.subject != want.subject || got.id != want.id || got.seq != m.Seq {
			t.Errorf("published %q with id %q and number %d, want %+v", got.subject, got.id, got.seq, want)
		}
		if diff := cmp.Diff(m, got.message, cmp.AllowUnexported(parley.Priority{})); diff != "" {
			t.Errorf("the message (-want +got):\n%s", diff)
		}
		span := parley.MessageSpan(m.ID) // as traces are exported with
		if want := "00-0af7651916cd43dd8448eb211c80319c-" + hex.EncodeToString(span[:]) + "-01"; got.trace != want {
			t.Errorf("traceparent %q, want %q", got.trace, want)
		}
	}
}

// onceInOrder requires messages of two channels, each once and in its order.
func onceInOrder(t *testing.T, list []published, each int) {
	t.Helper()
	next, seq := map[string]int{}, int64(0)
	for _, p := range list {
		if p.seq <= seq {
			t.Fatalf("number %d comes after %d", p.seq, seq)
		}
		seq = p.seq
		if want := fmt.Sprint(next[p.subject]); p.message.Content.Text != want {
			t.Fatalf("%s: message %q comes where %s should", p.subject, p.message.Content.Text, want)
		}
		next[p.subject]++
	}
	for subject, n := range next {
		if n != each {
			t.Errorf("%s has %d messages, want %d", subject, n, each)
		}
	}
}

// postBoth posts to two channels at once, and calls do in the middle.
func (w *linkedHub) postBoth(each int, do func()) {
	w.T.Helper()
	one, two := w.createChannel("one"), w.createChannel("two")
	var group sync.WaitGroup
	for i, channel := range []string{one, two} {
		group.Go(func() {
			for n := range each {
				if i == 0 && n == each/2 {
					do()
				}
				w.sayAsOwner(channel, fmt.Sprint(n))
			}
		})
	}
	group.Wait()
}

func TestServerIsRestartedInTheMiddleOfAThousandPosts(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.postBoth(500, func() {
		b.stop()
		w.logged.await(t, "the connection to NATS is lost")
		b.start()
	})
	r := newReader(t, b)
	onceInOrder(t, r.read(1000), 500)
	if n := r.count(); n != 1000 {
		t.Errorf("the stream has %d messages, want 1000", n)
	}
}

func TestHubIsRestartedInTheMiddle(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	channel := w.createChannel("general")
	for n := range 300 {
		if n%100 == 50 {
			w.restart()
		}
		w.sayAsOwner(channel, fmt.Sprint(n))
	}
	r := newReader(t, b)
	onceInOrder(t, r.read(300), 300)
	if n := r.count(); n != 300 {
		t.Errorf("the stream has %d messages, want 300", n)
	}
}

// TestRepeatedBatchIsPublishedOnceThoughTheServerHasForgottenItsIDs has a cursor that was not stored: the hub begins again
// where it was before, and the server's own window of ids is long over.
func TestRepeatedBatchIsPublishedOnceThoughTheServerHasForgottenItsIDs(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b, func(o *Options) { o.Limit.Window = 100 * time.Millisecond })
	w.AddAgents("arya", "ned")
	before := w.cursor()
	draft := parley.Draft{Direct: []string{"ned"}}
	for n := range 10 {
		draft.Content.Text = fmt.Sprint(n)
		w.postAs("arya", draft)
	}
	r := newReader(t, b)
	r.read(20)
	w.link.Stop()
	b.stop() // what the server remembers of ids when it starts is only what is younger than the window
	b.start()
	r = newReader(t, b)
	r.awaitForgotten(w)
	w.setCursor(before)
	w.startLink()
	draft.Content.Text = "10"
	w.postAs("arya", draft)
	list := r.read(22)
	for i, p := range list {
		if p.message.Content.Text != fmt.Sprint(i/2) {
			t.Fatalf("message %d says %q", i, p.message.Content.Text)
		}
	}
	if n := r.count(); n != 22 {
		t.Errorf("the stream has %d messages, want 22", n)
	}
}

func (w *linkedHub) cursor() (at int64) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		at, err = tx.Cursors().Get(cursorName)
		return err
	}))
	return at
}

func (w *linkedHub) setCursor(to int64) {
	w.T.Helper()
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		at, err := tx.Cursors().Get(cursorName)
		if err != nil {
			return err
		}
		return tx.Cursors().Move(cursorName, at, to)
	}))
}

// awaitForgotten waits until the server takes an id of the stream for a new one: what it publishes for that is deleted.
func (r *reader) awaitForgotten(w *linkedHub) {
	r.t.Helper()
	newest := r.read(20)[19]
	late := time.Now().Add(patience)
	for time.Now().Before(late) {
		ack, err := r.js.Publish(ctx, newest.subject, []byte("{}"), jetstream.WithMsgID(newest.id))
		if err != nil {
			r.t.Fatal(err)
		}
		if ack.Duplicate {
			continue
		}
		stream, err := r.js.Stream(ctx, "PARLEY_local")
		if err == nil {
			err = stream.DeleteMsg(ctx, ack.Sequence)
		}
		w.NoError(err)
		return
	}
	r.t.Fatal("the server never forgets the id")
}

// TestTwoProcessesPublishOnce has two links on one hub, as two processes on one database are.
func TestTwoProcessesPublishOnce(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b, func(o *Options) { o.Limit.Window = 100 * time.Millisecond })
	second, err := New(w.Hub, w.options)
	w.NoError(err)
	second.Start(ctx)
	defer second.Stop()
	w.postBoth(200, func() {})
	r := newReader(t, b)
	onceInOrder(t, r.read(400), 200)
	if n := r.count(); n != 400 {
		t.Errorf("the stream has %d messages, want 400", n)
	}
}

// TestHubRestoredFromABackupPublishesOn has a stream that is further than the hub: its numbers are given again.
func TestHubRestoredFromABackupPublishesOn(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	ahead := newLinkedHub(t, b)
	channel := ahead.createChannel("general")
	for n := range 50 {
		ahead.sayAsOwner(channel, fmt.Sprint(n))
	}
	r := newReader(t, b)
	r.read(50)
	ahead.link.Stop()
	restored := newLinkedHub(t, b) // with the same name and id, and nothing of it
	m := restored.sayAsOwner(restored.createChannel("general"), "again")
	list := r.read(51)
	if got := list[50]; got.id != m.ID {
		t.Errorf("published %+v, want the message %s", got, m.ID)
	}
}

func TestMessageLargerThanTheServerTakesGoesWithoutItsBody(t *testing.T) {
	t.Parallel()
	b := newBroker(t, func(o *server.Options) { o.MaxPayload = 16 << 10 })
	w := newLinkedHub(t, b)
	channel := w.createChannel("general")
	large := w.sayAsOwner(channel, strings.Repeat("x", 32<<10))
	w.sayAsOwner(channel, "small")
	list := newReader(t, b).read(2)
	if got := list[0]; !got.cut || got.id != large.ID || got.message.Content.Text != "" || got.message.Checksum != large.Checksum {
		t.Errorf("published %+v", got)
	}
	if got := list[1]; got.cut || got.message.Content.Text != "small" {
		t.Errorf("after it %+v", got)
	}
}

func TestDeletedMessageIsNotPublishedAfterAnOutage(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	gone, kept := w.createChannel("gone"), w.createChannel("kept")
	w.sayAsOwner(kept, "first")
	newReader(t, b).read(1)
	b.stop()
	w.logged.await(t, "the connection to NATS is lost")
	w.sayAsOwner(gone, "deleted")
	redacted := w.sayAsOwner(kept, "redacted")
	w.sayAsOwner(kept, "last")
	w.NoError(w.DeleteConversation(ctx, hubtest.Owner, gone))
	_, err := w.Redact(ctx, hubtest.Owner, redacted.ID, "a secret")
	w.NoError(err)
	b.start()
	list := newReader(t, b).read(3)
	words := []string{}
	for _, p := range list {
		words = append(words, p.message.Content.Text)
	}
	if diff := cmp.Diff([]string{"first", "", "last"}, words); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
}

func TestStreamOfAnotherHubIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.sayAsOwner(w.createChannel("general"), "mine")
	r := newReader(t, b)
	r.read(1)
	other := newLinkedHub(t, b, func(o *Options) { o.ID = "another hub" })
	other.sayAsOwner(other.createChannel("general"), "theirs")
	other.logged.await(t, "the stream PARLEY_local belongs to another hub")
	if n := r.count(); n != 1 {
		t.Errorf("the stream has %d messages, want 1", n)
	}
}

func TestLimitsOfTheStreamFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b, func(o *Options) { o.Limit = Limit{Age: time.Minute, Bytes: 1 << 20} })
	w.sayAsOwner(w.createChannel("general"), "hello")
	r := newReader(t, b)
	r.read(1)
	w.link.Stop()
	w.options.Limit = Limit{}
	w.startLink()
	w.sayAsOwner("general", "hello")
	r.read(2)
	stream, err := r.js.Stream(ctx, "PARLEY_local")
	w.NoError(err)
	got := stream.CachedInfo().Config
	if got.MaxAge != 0 || got.MaxBytes != -1 || got.Duplicates != defaultWindow {
		t.Errorf("the stream keeps %v, %d bytes, ids for %v", got.MaxAge, got.MaxBytes, got.Duplicates)
	}
}

func TestAwayServerIsAnAlert(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b, func(o *Options) { o.AlertDelay = time.Millisecond })
	w.sayAsOwner(w.createChannel("general"), "hello")
	newReader(t, b).read(1)
	b.stop()
	w.logged.await(t, "the hub cannot publish to NATS")
	w.awaitAlerts("nats")
	b.start()
	w.logged.await(t, "an alert has ended")
	w.awaitAlerts()
}

// awaitAlerts waits until these alerts are on, and no others.
func (w *linkedHub) awaitAlerts(names ...string) {
	w.T.Helper()
	for late := time.Now().Add(patience); ; {
		status, err := w.Status(ctx, hubtest.Owner)
		w.NoError(err)
		on := []string{}
		for _, a := range status.Alerts {
			on = append(on, a.Name)
		}
		if slices.Equal(on, names) {
			return
		}
		if time.Now().After(late) {
			w.T.Fatalf("the alerts %v are on, want %v", on, names)
		}
	}
}

package natslink

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hubtest"
)

// TestMessageLargerThanTheStreamTakesGoesWithoutItsBody has a stream whose operator bounds its messages.
func TestMessageLargerThanTheStreamTakesGoesWithoutItsBody(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	channel := w.createChannel("general")
	w.sayAsOwner(channel, "first")
	r := newReader(t, b)
	r.read(1)
	stream, err := r.js.Stream(ctx, "PARLEY_local")
	w.NoError(err)
	config := stream.CachedInfo().Config
	config.MaxMsgSize = 16 << 10
	_, err = r.js.UpdateStream(ctx, config)
	w.NoError(err)
	large := w.sayAsOwner(channel, strings.Repeat("x", 32<<10))
	w.sayAsOwner(channel, "small")
	list := r.read(3)
	if got := list[1]; !got.cut || got.id != large.ID {
		t.Errorf("published %+v", got)
	}
	if got := list[2]; got.cut || got.message.Content.Text != "small" {
		t.Errorf("after it %+v", got)
	}
}

// TestAlertEndsOnceTheStreamIsThere though nothing is posted.
func TestAlertEndsOnceTheStreamIsThere(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	r := newReader(t, b)
	if _, err := r.js.CreateStream(ctx, jetstream.StreamConfig{Name: "PARLEY_local", Subjects: []string{"other.>"}}); err != nil {
		t.Fatal(err)
	}
	w := newLinkedHub(t, b, func(o *Options) { o.AlertDelay = time.Millisecond })
	w.awaitAlerts("nats")
	w.NoError(r.js.DeleteStream(ctx, "PARLEY_local"))
	w.logged.await(t, "the hub takes messages from NATS")
	w.awaitAlerts()
}

// TestAlertEndsWhenNothingIsLeftToPublish: what could not be published was deleted.
func TestAlertEndsWhenNothingIsLeftToPublish(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b, func(o *Options) { o.AlertDelay = time.Millisecond })
	channel := w.createChannel("general")
	w.sayAsOwner(channel, "first")
	r := newReader(t, b)
	r.read(1)
	stream, err := r.js.Stream(ctx, "PARLEY_local")
	w.NoError(err)
	config := stream.CachedInfo().Config
	config.Sealed = true
	_, err = r.js.UpdateStream(ctx, config)
	w.NoError(err)
	w.sayAsOwner(channel, "second")
	w.awaitAlerts("nats")
	w.NoError(w.DeleteConversation(ctx, hubtest.Owner, channel))
	w.awaitAlerts()
}

// TestReceiptLargerThanTheServerTakesGoesWithoutTheBody, so that nobody sends again what was posted.
func TestReceiptLargerThanTheServerTakesGoesWithoutTheBody(t *testing.T) {
	t.Parallel()
	b := newBroker(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned")
	w.logged.await(t, "the hub takes messages from NATS")
	r, token := newReader(t, b), w.MakeToken("arya").Secret
	for size, cut := range map[int]bool{40 << 10: false, 62 << 10: true} {
		answer := r.request(withToken(token, `{"direct":["ned"],"content":{"text":"`+strings.Repeat("<", size)+`"}}`))
		var got parley.Receipt
		w.NoError(json.Unmarshal(answer.Data, &got))
		if got.Message.ID == "" || cut != (answer.Header.Get(headerCut) != "") || cut != (got.Message.Content.Text == "") {
			t.Errorf("the receipt of %d characters is %.300s", size, answer.Data)
		}
	}
}

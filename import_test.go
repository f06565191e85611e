package parley

import (
	"strings"
	"testing"
	"time"
)

func history() Message {
	id := "01a1de88-6c3d-715a-bef0-474e03d39e62"
	m := Message{
		ID: id, TraceID: id, Conversation: "01a1de88-6c3d-715a-bef0-474e03d39e63", From: "arya", Type: TypeChat,
		Priority: DefaultPriority, CreatedAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Source: "api",
		Content: Content{Text: "hello"},
	}
	return m
}

func TestImportedMessagesKeepTheirSeal(t *testing.T) {
	t.Parallel()
	m := history()
	m.ID, m.CreatedAt = strings.ToUpper(m.ID), m.CreatedAt.In(time.FixedZone("", 3600)).Add(time.Microsecond)
	got, err := m.CheckHistory(DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := history()
	if got.Seal(got.SealedBody()) != want.Seal(want.BodyDigest()) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	redacted := history().Redacted(want.CreatedAt)
	if got, err = redacted.CheckHistory(DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	got.Checksum = got.Seal(got.SealedBody())
	if !got.Intact() || got.Checksum != want.Seal(want.BodyDigest()) {
		t.Errorf("a redacted message became %+v", got)
	}
}

func TestHistoryRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Message){
		`"arya" or "" is not the id of a message`: func(m *Message) { m.ID = "arya" },
		"is not the id of a message":              func(m *Message) { m.InReplyTo = "x" },
		"has no source":                           func(m *Message) { m.Source = "" },
		"no created_at":                           func(m *Message) { m.CreatedAt = time.Time{} },
		"number of hops (-1)":                     func(m *Message) { m.Hops = -1 },
		"source has 257 bytes":                    func(m *Message) { m.Source = strings.Repeat("x", 257) },
		"task contains a NUL":                     func(m *Message) { m.Task = "\x00" },
		`the mention "a,b" is not an agent id`:    func(m *Message) { m.Mentions = []string{"a,b"} },
		"mentions has 65 entries":                 func(m *Message) { m.Mentions = make([]string, 65) },
		"the message is empty":                    func(m *Message) { m.Content = Content{} },
		"is not a message type":                   func(m *Message) { m.Type = "No" },
		"trace_id":                                func(m *Message) { m.TraceID = "a b" },
		"the message has no conversation":         func(m *Message) { m.Conversation = "" },
		"payload is not a JSON object":            func(m *Message) { m.Payload = []byte("[]") },
		"has a body, or lacks the digest":         func(m *Message) { m.RedactedAt = &m.CreatedAt },
		"has a body, or lacks the digest of its former body": func(m *Message) {
			m.RedactedAt, m.Content, m.Digest = &m.CreatedAt, Content{}, "00"
		},
	} {
		m := history()
		change(&m)
		if _, err := m.CheckHistory(DefaultLimits()); CodeOf(err) != BadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestDeliveryReachesEveryEarlierState(t *testing.T) {
	t.Parallel()
	reached := map[DeliveryState]string{
		DeliveryAccepted: "", DeliveryDelivered: "delivered", DeliverySeen: "delivered seen", DeliveryAcked: "delivered seen",
	}
	for state := range deliverySteps {
		want, climbing := reached[state]
		if !climbing {
			want = "delivered seen answered"
		}
		var got []string
		for _, wanted := range []DeliveryState{DeliveryDelivered, DeliverySeen, DeliveryAnswered} {
			if (Delivery{State: state}).Reached(wanted) {
				got = append(got, string(wanted))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has reached %v, want %s", state, got, want)
		}
	}
}

func TestTraceKey(t *testing.T) {
	t.Parallel()
	const want = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, id := range []string{want, strings.ToUpper(want), "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"} {
		if got := TraceKey(id); got != want {
			t.Errorf("%s is %s", id, got)
		}
	}
	if TraceKey("build-7") == TraceKey("Build-7") {
		t.Error("words that differ in case are the same trace")
	}
}

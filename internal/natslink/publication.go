package natslink

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// The headers of publications and requests.
const (
	headerID    = nats.MsgIdHdr
	headerSeq   = "Parley-Seq"
	headerCut   = "Parley-Cut" // set if the message has no body because it did not fit
	headerTrace = "traceparent"
	headerToken = "Parley-Token"
)

// publication is a message on its way to a subject.
type publication struct {
	subject string
	id      string // unique, and the same each time that the message is published
	message *parley.Message
	body    []byte
}

// publications returns the publications of a batch, in order: each message for its conversation, then for each recipient.
func (l *Link) publications(batch []hub.Followed) (list []publication, err error) {
	for _, f := range batch {
		if f.Posted == nil {
			continue
		}
		body, err := encode(*f.Posted)
		if err != nil {
			return nil, err
		}
		list = append(list, publication{l.subject("conv", f.Posted.Conversation), f.Posted.ID, f.Posted, body})
		for _, d := range f.Deliveries {
			list = append(list, publication{l.subject("inbox", d.Recipient), f.Posted.ID + "." + d.Recipient, f.Posted, body})
		}
	}
	return list, nil
}

// messageOf returns the id of the message in the id of a publication.
func messageOf(id string) string {
	message, _, _ := strings.Cut(id, ".")
	return message
}

// encode encodes JSON without escaping HTML characters, because an escaped character has six bytes.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// headerRoom is how many bytes the headers may need.
const headerRoom = 4 << 10

// natsMessage returns the message to send. If it would be larger than the server allows, it has no body, because otherwise it
// would block the following messages. Subscribers can read the body from the hub.
func (p publication) natsMessage(maxSize int64) (*nats.Msg, error) {
	m := nats.NewMsg(p.subject)
	m.Data = p.body
	m.Header.Set(headerID, p.id)
	m.Header.Set(headerSeq, strconv.FormatInt(p.message.Seq, 10))
	m.Header.Set(headerTrace, parley.TraceParent(p.message.TraceID, parley.MessageSpan(p.message.ID)))
	if int64(len(m.Data))+headerRoom > maxSize {
		m.Header.Set(headerCut, "true")
		var err error
		if m.Data, err = encode(withoutBody(*p.message)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func withoutBody(m parley.Message) parley.Message {
	m.Content, m.Payload, m.Metadata = parley.Content{}, nil, nil
	return m
}

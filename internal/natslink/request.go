package natslink

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"

	"github.com/parley-hub/parley"
)

// request is a message that a client sends.
type request struct {
	requestBody
	message *nats.Msg
	trace   string // that the request is part of
	err     error  // why it cannot be read
}

// requestBody is the JSON of a request. A header may carry the token instead.
type requestBody struct {
	Token string `json:"token"`
	parley.Draft
}

// readOptions is how requests are read, as over HTTP: a key that is unknown, stands twice or differs in case is refused, and so is
// null for what cannot be absent.
var readOptions = jsonx.JoinOptions(jsonx.RejectUnknownMembers(true), jsonx.WithUnmarshalers(jsonx.UnmarshalFromFunc(refuseNull)))

var errNull = errors.New("null is no value for it")

// refuseNull looks at every value before it is read, and reads none itself.
func refuseNull(dec *jsontext.Decoder, into any) error {
	if dec.PeekKind() != jsontext.KindNull {
		return errors.ErrUnsupported
	}
	if _, raw := into.(*json.RawMessage); raw || reflect.TypeOf(into).Elem().Kind() == reflect.Pointer {
		return errors.ErrUnsupported
	}
	return errNull
}

// read reads a request.
func read(m *nats.Msg, limit int) request {
	r := request{message: m}
	if len(m.Data) > limit {
		r.err = parley.Errorf(parley.BadInput, "the request has %d bytes, and the limit here is %d", len(m.Data), limit).
			Because(parley.TooLarge).Suggest("make it smaller, or send an artifact")
		return r
	}
	if err := jsonx.Unmarshal(m.Data, &r.requestBody, readOptions); err != nil {
		r.err = malformed(err)
		return r
	}
	if header := m.Header.Get(headerToken); header != "" {
		if r.Token != "" && r.Token != header {
			r.err = parley.Errorf(parley.BadInput, "the header %s and the body name different tokens", headerToken).Suggest("give one of them")
		}
		r.Token = header
	}
	r.trace, _ = parley.ParseTraceParent(m.Header.Get(headerTrace))
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = m.Header.Get(headerID)
	}
	return r
}

// malformed says where a request is wrong. It never repeats the value, which may be a token.
func malformed(err error) error {
	at, why := pointerOf(err), "is not what it should be"
	if own, ok := errors.AsType[*parley.Error](err); ok {
		return parley.Errorf(own.Code, "%s: %s", at, own.Message).Suggest("%s", own.Suggestion)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, why = "the request", "ends too soon"
	case errors.Is(err, jsonx.ErrUnknownName):
		why = "is not known"
	case errors.Is(err, jsontext.ErrDuplicateName):
		why = "stands twice in one object"
	case errors.Is(err, errNull):
		why = "is null"
	}
	return parley.Errorf(parley.BadInput, "%s %s", at, why).Suggest("send a draft as POST /v1/messages takes it, in JSON")
}

// pointerOf returns the JSON pointer of the error.
func pointerOf(err error) string {
	var pointer jsontext.Pointer
	if e, ok := errors.AsType[*jsonx.SemanticError](err); ok {
		pointer = e.JSONPointer
	} else if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer = e.JSONPointer
	}
	const most = 80
	switch {
	case pointer == "":
		return "the request"
	case len(pointer) > most:
		return string(pointer[:most]) + "…"
	}
	return string(pointer)
}

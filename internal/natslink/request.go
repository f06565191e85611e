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
	trace   string // the id of the trace that the request belongs to
	err     error  // why the request cannot be read
}

// requestBody is the JSON of a request. A header may carry the token instead.
type requestBody struct {
	Token string `json:"token"`
	parley.Draft
}

// readOptions are the options for reading requests, as in the HTTP API. They refuse a key that is unknown, repeated or in another
// case, and null for a value that must be present.
var readOptions = jsonx.JoinOptions(jsonx.RejectUnknownMembers(true), jsonx.WithUnmarshalers(jsonx.UnmarshalFromFunc(refuseNull)))

var errNull = errors.New("null is not allowed")

// refuseNull is called before each value is read. It returns errNull for a null that is not allowed, and otherwise leaves the
// value to the library.
func refuseNull(dec *jsontext.Decoder, target any) error {
	if dec.PeekKind() != jsontext.KindNull {
		return errors.ErrUnsupported
	}
	if _, raw := target.(*json.RawMessage); raw || reflect.TypeOf(target).Elem().Kind() == reflect.Pointer {
		return errors.ErrUnsupported
	}
	return errNull
}

// read parses a request. If it cannot, the err of the request says why.
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
			r.err = parley.Errorf(parley.BadInput, "the header %s and the body name different tokens", headerToken).Suggest("give only one of them")
		}
		r.Token = header
	}
	r.trace, _ = parley.ParseTraceParent(m.Header.Get(headerTrace))
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = m.Header.Get(headerID)
	}
	return r
}

// malformed returns E003 with the place of a mistake in a request. It never repeats the value, which may be a token.
func malformed(err error) error {
	at, problem := pointerOf(err), "is not valid"
	if parleyErr, ok := errors.AsType[*parley.Error](err); ok {
		return parley.Errorf(parleyErr.Code, "%s: %s", at, parleyErr.Message).Suggest("%s", parleyErr.Suggestion)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, problem = "the request", "ends too soon"
	case errors.Is(err, jsonx.ErrUnknownName):
		problem = "is unknown"
	case errors.Is(err, jsontext.ErrDuplicateName):
		problem = "appears twice in one object"
	case errors.Is(err, errNull):
		problem = "is null"
	}
	return parley.Errorf(parley.BadInput, "%s %s", at, problem).Suggest("send a draft as POST /v1/messages takes it, in JSON")
}

// pointerOf returns the JSON pointer of an error, shortened, or "the request" if it has none.
func pointerOf(err error) string {
	var pointer jsontext.Pointer
	if e, ok := errors.AsType[*jsonx.SemanticError](err); ok {
		pointer = e.JSONPointer
	} else if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer = e.JSONPointer
	}
	const maxLength = 80
	switch {
	case pointer == "":
		return "the request"
	case len(pointer) > maxLength:
		return string(pointer[:maxLength]) + "…"
	}
	return string(pointer)
}

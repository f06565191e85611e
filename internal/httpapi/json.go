package httpapi

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/parley-hub/parley"
)

// jsonWriting is how answers are written: as encoding/json does, but nothing is escaped for HTML, and an
// empty list is [] however it was made.
var jsonWriting = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
)

// jsonReading is how requests are read: a key that is unknown, stands twice or differs in case is refused, and
// so are null for what cannot be absent, anything after the value, and invalid UTF-8.
var jsonReading = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))

var errNull = errors.New("null is no value for it")

// refuseNull looks at every value before it is read, and reads none itself.
func refuseNull(dec *jsontext.Decoder, into any) error {
	if dec.PeekKind() != jsontext.KindNull {
		return errors.ErrUnsupported
	}
	if _, raw := into.(*stdjson.RawMessage); raw || reflect.TypeOf(into).Elem().Kind() == reflect.Pointer {
		return errors.ErrUnsupported
	}
	return errNull
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keptBuffer is the largest buffer that is used again.
const keptBuffer = 64 << 10

func release(b *bytes.Buffer) {
	if b.Cap() <= keptBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// writeJSON answers with a value. What cannot be written is a defect; who has gone away does not matter.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b := buffers.Get().(*bytes.Buffer)
	out := &chunkWriter{w: w, status: status, buffer: b.AvailableBuffer()}
	defer func() {
		release(bytes.NewBuffer(out.buffer[:0]))
	}()
	if h := w.Header(); h["Content-Type"] == nil {
		h["Content-Type"] = jsonHeader
		h["Cache-Control"] = noStoreHeader
	}
	if err := json.MarshalWrite(out, v, jsonWriting); err != nil {
		panic(err)
	}
	_, _ = out.Write(lineEnd)
	out.flush()
}

var lineEnd = []byte("\n")

// readJSON reads the body of a request into a value. Without a body the value stays as it is.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	b := buffers.Get().(*bytes.Buffer)
	defer release(b)
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	if _, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		return unreadable(err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // what is asked for may take longer than asking
	if b.Len() == 0 {
		return nil // as {}
	}
	return decode(b.Bytes(), into)
}

func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return parley.Errorf(parley.BadInput, "the request's body could not be read: %w", err).Suggest("send it again")
}

// decode reads one JSON value, and says where it is wrong.
func decode(raw []byte, into any) error { return decodeWith(raw, into, jsonReading) }

func decodeWith(raw []byte, into any, how json.Options) error {
	err := json.Unmarshal(raw, into, how)
	if err == nil {
		return nil
	}
	const hint = "see /docs for what can be sent here"
	at, why := placeOf(err), "is not what it should be"
	if own, ok := errors.AsType[*parley.Error](err); ok {
		return parley.Errorf(own.Code, "%s: %s", at, own.Message).Suggest("%s", own.Suggestion)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, why = "the body", "ends too soon"
	case errors.Is(err, json.ErrUnknownName):
		why = "is not known"
	case errors.Is(err, jsontext.ErrDuplicateName):
		why = "stands twice in one object"
	case errors.Is(err, errNull):
		why = "is null"
	default:
		if kind := kindOf(err); kind != "" {
			why = "is not " + kind
		}
	}
	return parley.Errorf(parley.BadInput, "%s %s", clip(at), why).Suggest(hint)
}

// placeOf is the JSON pointer of what is wrong.
func placeOf(err error) string {
	var pointer jsontext.Pointer
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		pointer = e.JSONPointer
	} else if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer = e.JSONPointer
	}
	if pointer == "" {
		return "the body"
	}
	return string(pointer)
}

// kindOf says in words what was expected where something else stood.
func kindOf(err error) string {
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok || e.GoType == nil {
		return "valid JSON"
	}
	t := e.GoType
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time such as 2026-01-02T15:04:05Z"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Int8:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return ""
	}
}

// encodeCursor makes an opaque word of where a list goes on.
func encodeCursor(at any) string {
	raw, err := json.Marshal(at)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// decodeCursor reads a cursor back; none gives nil.
func decodeCursor[T any](word string) (*T, error) {
	if word == "" {
		return nil, nil
	}
	var place T
	raw, err := base64.RawURLEncoding.DecodeString(word)
	if err == nil {
		err = json.Unmarshal(raw, &place, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return nil, parley.Errorf(parley.BadInput, "the cursor is not one of this list").Suggest("begin without a cursor")
	}
	return &place, nil
}

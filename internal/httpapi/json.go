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

// writeOptions are the options for answers: the same as encoding/json, but without escapes for HTML, and with [] for nil lists.
var writeOptions = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
)

// readOptions are the options for requests. They refuse unknown keys, duplicate keys, keys that differ in case, null for a
// field that cannot be null, text after the value, and invalid UTF-8.
var readOptions = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))

var errNull = errors.New("null is not allowed")

// refuseNull returns errNull for a null that the field cannot hold. For every other value it returns ErrUnsupported, so that
// the decoder reads the value as usual.
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

// maxKeptBuffer is the size of the largest buffer that the pool keeps.
const maxKeptBuffer = 64 << 10

func putBuffer(b *bytes.Buffer) {
	if b.Cap() <= maxKeptBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// writeJSON answers with a value. It panics if the value has no JSON, which is a defect. It ignores a caller that has
// disconnected.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b := buffers.Get().(*bytes.Buffer)
	out := &chunkWriter{w: w, status: status, buffer: b.AvailableBuffer()}
	defer func() {
		putBuffer(bytes.NewBuffer(out.buffer[:0]))
	}()
	if h := w.Header(); h["Content-Type"] == nil {
		h["Content-Type"] = jsonHeader
		h["Cache-Control"] = noStoreHeader
	}
	if err := json.MarshalWrite(out, v, writeOptions); err != nil {
		panic(err)
	}
	_, _ = out.Write(lineEnd)
	out.flush()
}

var lineEnd = []byte("\n")

// readJSON reads the body of a request into a value. If the body is empty, the value stays unchanged.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	b := buffers.Get().(*bytes.Buffer)
	defer putBuffer(b)
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	if _, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		return unreadable(err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the call may take longer than its body
	if b.Len() == 0 {
		return nil // an empty body means {}
	}
	return decode(b.Bytes(), into)
}

func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return parley.Errorf(parley.BadInput, "cannot read the body of the request: %w", err).Suggest("send it again")
}

// decode decodes one JSON value. If the value is wrong, it returns E003 with the place of the mistake.
func decode(raw []byte, into any) error { return decodeWith(raw, into, readOptions) }

func decodeWith(raw []byte, into any, options json.Options) error {
	err := json.Unmarshal(raw, into, options)
	if err == nil {
		return nil
	}
	const hint = "see /docs for the parameters and fields"
	at, why := placeOf(err), "is not valid"
	if own, ok := errors.AsType[*parley.Error](err); ok {
		return parley.Errorf(own.Code, "%s: %s", at, own.Message).Suggest("%s", own.Suggestion)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, why = "the body", "ends too soon"
	case errors.Is(err, json.ErrUnknownName):
		why = "is unknown"
	case errors.Is(err, jsontext.ErrDuplicateName):
		why = "appears twice in one object"
	case errors.Is(err, errNull):
		why = "is null"
	default:
		if kind := expectedType(err); kind != "" {
			why = "is not " + kind
		}
	}
	return parley.Errorf(parley.BadInput, "%s %s", shorten(at), why).Suggest(hint)
}

// placeOf returns the JSON pointer to the mistake, or "the body".
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

// expectedType returns, in words, the type that the decoder expected; "" if it has no words for it.
func expectedType(err error) string {
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

// encodeCursor returns the opaque cursor of a position in a list.
func encodeCursor(at any) string {
	raw, err := json.Marshal(at)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// decodeCursor returns the position of a cursor, or nil without a cursor. It returns E003 if the cursor is invalid.
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
		return nil, parley.Errorf(parley.BadInput, "the cursor does not belong to this list").Suggest("start without a cursor")
	}
	return &place, nil
}

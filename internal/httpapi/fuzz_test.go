package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// tries is how often each operation is called.
const tries = 30

// TestAnythingIsAnswered calls every operation of the document with what the document allows, and with what
// it does not: nothing makes the hub fail, and every answer is as the document says.
func TestAnythingIsAnswered(t *testing.T) {
	doc := readDocument(t)
	w := newServedHubWith(t, hub.Asks{Wait: time.Millisecond}, localListener(t))
	f := &fuzzer{rand: rand.New(rand.NewPCG(1, 2)), doc: doc, hub: w, known: w.knownNames()}
	schemas := newSchemas(t, doc)
	for _, op := range operations(doc) {
		t.Run(op.id, func(t *testing.T) {
			for range tries {
				r := f.request(op.path, op.method)
				got := w.send(r)
				if err := schemas.check(op.path, op.method, got); err != nil {
					t.Errorf("%s %s %q\n%d %s\n%v", r.method, r.path, r.body, got.status, got.body, err)
				}
			}
		})
	}
}

type described struct{ id, path, method string }

// operations are those of the document; what takes something away comes last.
func operations(doc part) (list []described) {
	for _, path := range slices.Sorted(maps.Keys(doc["paths"].(part))) {
		for _, method := range slices.Sorted(maps.Keys(down(doc, "paths", path).(part))) {
			list = append(list, described{fmt.Sprint(down(doc, "paths", path, method, "operationId")), path, method})
		}
	}
	taking := func(d described) bool { return d.method == "delete" }
	return append(slices.DeleteFunc(slices.Clone(list), taking), slices.DeleteFunc(list, func(d described) bool { return !taking(d) })...)
}

// knownNames are names that stand for something.
func (w *servedHub) knownNames() []string {
	w.T.Helper()
	arya := hub.Caller{Agent: "arya"}
	sent, err := w.Post(ctx, arya, parley.Draft{Conversation: "square", Content: parley.Content{Text: "hello @gendry and @Arya"}})
	w.NoError(err)
	stored, err := w.PutArtifact(ctx, arya, strings.NewReader("steel"))
	w.NoError(err)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "hound"})
	w.NoError(err)
	return []string{"arya", "gendry", "hound", "rickon", "square", "forge", "#square", sent.Message.ID, stored.SHA256, made.ID, "hello"}
}

// fuzzer makes requests out of the document.
type fuzzer struct {
	rand  *rand.Rand
	doc   part
	hub   *servedHub
	known []string
}

func (f *fuzzer) chance(n int) bool { return f.rand.IntN(n) == 0 }

func pick[T any](f *fuzzer, list []T) T { return list[f.rand.IntN(len(list))] }

func (f *fuzzer) request(path, method string) request {
	op := down(f.doc, "paths", path, method)
	r := request{as: pick(f, []string{"user", "user", "rickon", "arya", "gendry"}), method: strings.ToUpper(method), header: in()}
	query := url.Values{}
	parameters, _ := down(op, "parameters").([]any)
	for _, p := range parameters {
		name, value := fmt.Sprint(down(p, "name")), f.text(down(p, "schema"))
		switch {
		case down(p, "in") == "path":
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
		case f.chance(2):
		case down(p, "in") == "query":
			query.Set(name, value)
		default:
			r.header[name] = strings.Map(printable, value)
		}
	}
	if r.path = path; len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if body := down(op, "requestBody", "content", "application/json", "schema"); body != nil {
		r.body = f.json(body)
	} else if down(op, "requestBody") != nil {
		r.body = pick(f, odd)
	}
	return r
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '.'
	}
	return r
}

// odd are texts that have made programs stumble.
var odd = []string{
	"", " ", "\x00", "\xff\xfe", "a\nb", "'; DROP TABLE messages; --", "../../etc/passwd", "{}", "[]", "null", "true", "-1", "0", "1e400",
	"9223372036854775808", "NaN", "\u202e", "🦊", "ǅ", "İ", strings.Repeat("a", 300), strings.Repeat("é", 70), "%s%n", "<script>", "@all", "all", "parley",
	"2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0000-00-00T00:00:00Z", `{"parley":"export","version":1}` + "\n" + `{"agent":{"id":"bran"}}` + "\n",
}

// text is a value as it stands in a URL.
func (f *fuzzer) text(schema any) string {
	v := f.value(schema, 0)
	if text, ok := v.(string); ok {
		return text
	}
	return fmt.Sprint(v)
}

// json is a body: as the schema wants it, or broken.
func (f *fuzzer) json(schema any) string {
	raw, err := json.Marshal(f.value(schema, 0))
	if err != nil {
		panic(err)
	}
	switch f.rand.IntN(20) {
	case 0, 1:
		return string(raw[:f.rand.IntN(len(raw)+1)])
	case 2, 3:
		return string(raw) + pick(f, odd)
	case 4:
		return pick(f, odd)
	default:
		return string(raw)
	}
}

// value is a value of a schema, more or less.
func (f *fuzzer) value(schema any, depth int) any {
	if f.chance(25) || depth > 6 {
		return pick(f, []any{nil, true, -1, 1e18, 0.5, "x", []any{}, part{}, part{"a": []any{1}}})
	}
	if ref, ok := down(schema, "$ref").(string); ok {
		schema = down(f.doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	if words, ok := down(schema, "enum").([]any); ok && !f.chance(5) {
		return pick(f, words)
	}
	if one, ok := down(schema, "oneOf").([]any); ok {
		return f.value(pick(f, one), depth)
	}
	kind := down(schema, "type")
	if kinds, ok := kind.([]any); ok {
		kind = pick(f, kinds)
	}
	switch kind {
	case "object":
		return f.object(schema, depth)
	case "array":
		list := make([]any, f.rand.IntN(3))
		for i := range list {
			list[i] = f.value(down(schema, "items"), depth+1)
		}
		return list
	case "string":
		return f.word(schema)
	case "integer":
		return pick(f, []int64{0, 1, 2, 5, 20, 100, -1, 1 << 40, 1<<63 - 1})
	case "number":
		return f.number(schema)
	case "boolean":
		return f.chance(2)
	case "null":
		return nil
	default:
		return pick(f, []any{part{"a": 1}, "x", 1})
	}
}

func (f *fuzzer) object(schema any, depth int) any {
	made := part{}
	properties, _ := down(schema, "properties").(part)
	required, _ := down(schema, "required").([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) && !f.chance(8) || f.chance(4) {
			made[name] = f.value(properties[name], depth+1)
		}
	}
	if f.chance(15) {
		made[pick(f, odd)] = pick(f, odd)
	}
	return made
}

func (f *fuzzer) word(schema any) string {
	if down(schema, "format") == "date-time" && !f.chance(4) {
		return pick(f, []string{"2026-01-01T00:00:00Z", "2126-01-01T00:00:00Z", "2027-06-01T12:00:00.123456+02:00", "9999-12-31T23:59:59Z"})
	}
	if f.chance(3) {
		return pick(f, odd)
	}
	return pick(f, f.known)
}

// number is a number of seconds, mostly; nothing waits for long.
func (f *fuzzer) number(schema any) any {
	if down(schema, "maximum") != nil {
		return pick(f, []any{0, 0.001, -1, 51, 1e300})
	}
	return pick(f, []any{0, 1, 60, 0.5, -1, 1e300, 1e9})
}

// schemas are those of the answers.
type schemas struct {
	doc      part
	compiler *jsonschema.Compiler
	made     map[string]*jsonschema.Schema
}

func newSchemas(t *testing.T, doc part) *schemas {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.AssertFormat()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(mustJSON(doc)))
	if err == nil {
		err = c.AddResource("openapi.json", parsed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &schemas{doc: doc, compiler: c, made: map[string]*jsonschema.Schema{}}
}

// nothing loads nothing: a document refers to itself alone.
type nothing struct{}

func (nothing) Load(url string) (any, error) { return nil, fmt.Errorf("%s is elsewhere", url) }

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// check compares an answer with what the document says of it.
func (s *schemas) check(path, method string, got reply) error {
	if got.status >= http.StatusInternalServerError && (path != "/v1/contact" || got.status == http.StatusInternalServerError) {
		return errors.New("the hub failed") // or, in a contact, somebody is away or late
	}
	status := strconv.Itoa(got.status)
	at := []string{"paths", path, method, "responses", status}
	if ref, ok := down(s.doc, append(at, "$ref")...).(string); ok {
		at = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	} else if down(s.doc, at...) == nil {
		return fmt.Errorf("the status %s is not described", status)
	}
	content, _ := down(s.doc, append(at, "content")...).(part)
	mediaType, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	if content == nil {
		if got.body != "" {
			return errors.New("there is a body, and none is described")
		}
		return nil
	}
	if content[mediaType] == nil && mediaType != "text/markdown" {
		return fmt.Errorf("the type %q is not described", mediaType)
	}
	if !strings.HasSuffix(mediaType, "json") {
		return nil
	}
	return s.validate(append(at, "content", mediaType, "schema"), got.body)
}

func (s *schemas) validate(at []string, body string) error {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	pointer := "openapi.json#"
	for _, key := range at {
		pointer += "/" + url.PathEscape(escape.Replace(key))
	}
	if s.made[pointer] == nil {
		made, err := s.compiler.Compile(pointer)
		if err != nil {
			return err
		}
		s.made[pointer] = made
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		return err
	}
	return s.made[pointer].Validate(v)
}

// Package schema checks documents of the supported formats, and the payloads of their messages, with JSON Schemas.
package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-hub/parley"
)

//go:embed *.json
var files embed.FS

// schemas returns all schemas by the names of their files without the ending. The first call compiles them.
var schemas = sync.OnceValue(compile)

// noLoader refuses every reference to a schema outside of this package.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not one of the schemas here", url)
}

func compile() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: checkTimeWithOffset})
	c.RegisterFormat(&jsonschema.Format{Name: "iso-8601", Validate: checkTime})
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, entry := range entries {
		if err := addSchema(c, entry.Name()); err != nil {
			panic(err)
		}
		compiled[strings.TrimSuffix(entry.Name(), ".json")] = c.MustCompile(address(entry.Name()))
	}
	return compiled
}

// address returns the address of a schema for the compiler. Nothing can be fetched from it.
func address(name string) string { return "parley:///" + name }

func addSchema(c *jsonschema.Compiler, name string) error {
	raw, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	var schema any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return err
	}
	return c.AddResource(address(name), schema)
}

// CheckDocument returns the issues of a document of a dialect and of its payload, each as a sentence. It returns nil if the
// document is valid. It limits the number of issues, except for a dialect that lists all.
func CheckDocument(dialect string, raw []byte) []string {
	value, issues := decode(raw)
	if issues != nil {
		return issues
	}
	found := check(schemas()[dialect], value, "")
	document, _ := value.(map[string]any)
	kind, _ := document["type"].(string)
	payload, isObject := document["payload"].(map[string]any)
	if payloadSchema := schemas()[dialect+"."+kind]; payloadSchema != nil && isObject {
		found = append(found, check(payloadSchema, payload, "payload.")...)
	}
	if listsAllIssues[dialect] {
		return sentences(found)
	}
	return firstSentences(found)
}

// Fits reports whether a payload is valid for a type of message in a dialect.
func Fits(dialect, kind string, payload []byte) bool {
	payloadSchema := schemas()[dialect+"."+kind]
	value, issues := decode(payload)
	return payloadSchema != nil && issues == nil && payloadSchema.Validate(value) == nil
}

// payloadForms has, by message type, the schema of a payload and the keys that show that a payload is meant to have this form. A
// payload without any of the keys is the sender's own and is not checked. A form without keys applies to every payload of its
// type.
var payloadForms = map[parley.Type]struct {
	schema string
	keys   []string
}{
	"status-update":         {"routing.status-update", nil},
	"task-delegation":       {"routing.task-delegation", nil},
	parley.TypeCommand:      {"routing.command", nil},
	parley.TypeResult:       {"routing.result", []string{"status"}},
	parley.TypeHeartbeat:    {"routing.heartbeat", []string{"health"}},
	parley.TypeRequest:      {"clawos.request", []string{"action"}},
	parley.TypeResponse:     {"clawos.response", []string{"status", "requestId"}},
	parley.TypeNotification: {"clawos.notification", []string{"event"}},
	parley.TypeError:        {"clawos.error", []string{"code"}},
}

// CheckPayload returns the issues of a payload, each as a sentence. It returns nil if the payload is valid or missing, or clearly
// in no known format.
func CheckPayload(t parley.Type, raw []byte) []string {
	form, known := payloadForms[t]
	if !known || len(raw) == 0 {
		return nil
	}
	value, issues := decode(raw)
	if issues != nil {
		return issues
	}
	if object, ok := value.(map[string]any); ok && !hasAnyKey(object, form.keys) {
		return nil
	}
	return firstSentences(check(schemas()[form.schema], value, ""))
}

func hasAnyKey(object map[string]any, keys []string) bool {
	for _, key := range keys {
		if _, found := object[key]; found {
			return true
		}
	}
	return keys == nil
}

// decode reads JSON for the validator. It limits numbers to the range of a float64, because the validator computes exactly and
// would need too long for larger ones.
func decode(raw []byte) (value any, issues []string) {
	err := json.Unmarshal(raw, &value)
	if _, tooLarge := errors.AsType[*json.UnmarshalTypeError](err); tooLarge {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		err = dec.Decode(&value)
		value = clampNumbers(value)
	}
	if err != nil {
		return nil, []string{"Not valid JSON: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	return value, nil
}

// clampNumbers replaces the numbers in a value by the nearest float64.
func clampNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		n, _ := value.Float64() // a number that is too large is infinite
		return max(-math.MaxFloat64, min(n, math.MaxFloat64))
	case map[string]any:
		for key := range value {
			value[key] = clampNumbers(value[key])
		}
	case []any:
		for i := range value {
			value[i] = clampNumbers(value[i])
		}
	}
	return value
}

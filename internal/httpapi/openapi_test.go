package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// TestOpenAPIDocumentIsKept compares the document in the repository with the one the program serves. After
// a change that is meant: make openapi.
func TestOpenAPIDocumentIsKept(t *testing.T) {
	kept(t, "../../docs/openapi.json", string(httpapi.OpenAPI()))
	w := newServedHub(t)
	got := w.send(request{path: "/openapi.json"})
	if got.body != string(httpapi.OpenAPI()) || got.header.Get("Content-Type") != "application/json" {
		t.Error("another document is served")
	}
}

// part is an object of the document.
type part = map[string]any

func readDocument(t testing.TB) part {
	t.Helper()
	var doc part
	if err := json.Unmarshal(httpapi.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// down goes down into a document.
func down(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(part)
		v = m[key]
	}
	return v
}

func TestOpenAPIDocumentNamesEveryOperation(t *testing.T) {
	doc := readDocument(t)
	for _, op := range httpapi.Routes() {
		described, there := down(doc, "paths", op.Path, strings.ToLower(op.Method)).(part)
		if there == op.Hidden {
			t.Errorf("%s: described %t, hidden %t", op.ID, there, op.Hidden)
			continue
		}
		if op.Hidden {
			continue
		}
		for _, key := range []string{"operationId", "summary", "description", "tags", "responses"} {
			if described[key] == nil {
				t.Errorf("%s has no %s", op.ID, key)
			}
		}
		if secured := described["security"] != nil; secured == (op.Who == hub.Anyone) {
			t.Errorf("%s: needs a credential: %t", op.ID, secured)
		}
		if body := down(described, "requestBody", "content", "application/json"); body != nil && down(body, "example") == nil {
			t.Errorf("%s has no example", op.ID)
		}
		for _, status := range []string{"400", "403", "500"} {
			if down(described, "responses", status) == nil {
				t.Errorf("%s has no answer %s", op.ID, status)
			}
		}
		if op.Method == http.MethodPost && down(described, "responses", "429") == nil {
			t.Errorf("%s does not say that it may be too much", op.ID)
		}
	}
}

// TestOpenAPIDocumentExplains requires a sentence for every parameter and every field.
func TestOpenAPIDocumentExplains(t *testing.T) {
	doc := readDocument(t)
	for path, item := range doc["paths"].(part) {
		for method, op := range item.(part) {
			parameters, _ := down(op, "parameters").([]any)
			for _, p := range parameters {
				if down(p, "description") == nil {
					t.Errorf("%s %s: %v is not explained", method, path, down(p, "name"))
				}
			}
		}
	}
	for name, schema := range down(doc, "components", "schemas").(part) {
		properties, _ := down(schema, "properties").(part)
		for field, s := range properties {
			if down(s, "description") == nil {
				t.Errorf("%s.%s is not explained", name, field)
			}
		}
	}
}

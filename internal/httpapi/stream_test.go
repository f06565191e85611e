package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/parley-hub/parley/internal/httpapi"
)

// TestStreamsAreOperations: each request that counts as a stream is one of an operation, and short calls are none.
func TestStreamsAreOperations(t *testing.T) {
	streams := map[string]string{"follow-events": "", "open-session": "", "follow-mcp": "", "call-mcp": "subscriptions/listen"}
	for _, op := range httpapi.Routes() {
		r, err := http.NewRequest(op.Method, "http://hub"+op.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		method, want := streams[op.ID]
		r.Header.Set("Mcp-Method", method)
		if got := httpapi.IsStream(r); got != want {
			t.Errorf("%s: %t", op.ID, got)
		}
		delete(streams, op.ID)
		r.Header.Set("Mcp-Method", "tools/call")
		if op.Method == http.MethodPost && op.Path == "/mcp" && httpapi.IsStream(r) {
			t.Error("a call of a tool counts as a stream")
		}
	}
	if len(streams) > 0 {
		t.Errorf("no operations: %v", streams)
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// serveFullInbox serves a hub whose only inbox has this many documents.
func serveFullInbox(t *testing.T, documents int) {
	t.Helper()
	answer := func(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/whoami", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"agent": map[string]any{"id": "worker-1"}})
	})
	mux.HandleFunc("GET /v1/agents", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]any{"items": []any{}}) })
	mux.HandleFunc("GET /v1/inbox", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.URL.Query().Get("after"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		page := parley.Peeked{Deliveries: []parley.Delivery{}, Messages: []parley.Message{}}
		for seq := after + 1; seq <= documents && len(page.Messages) < limit; seq++ {
			id := fmt.Sprintf("00000000-0000-7000-8000-%012d", seq)
			page.Deliveries = append(page.Deliveries, parley.Delivery{Message: id, Recipient: "worker-1"})
			page.Messages = append(page.Messages, parley.Message{ID: id, Seq: int64(seq), From: "gm", Type: parley.TypeChat, Content: parley.Content{Text: "x"}})
		}
		answer(w, page)
	})
	serveHub(t, mux)
}

func TestDocumentBehindManyOthersIsRead(t *testing.T) {
	serveFullInbox(t, 2*maxDocuments+1)
	const last = "00000000-0000-7000-8000-000000001001"
	var out, errs strings.Builder
	if code := Run([]string{"blackboard", "read", "worker-1/inbox/" + last + ".json"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), last) {
		t.Errorf("exit code %d, it prints %q and says %q", code, out.String(), errs.String())
	}
	out.Reset()
	if code := Run([]string{"blackboard", "read", "worker-1/inbox/none.json"}, strings.NewReader(""), &out, &errs); code != 1 || !strings.Contains(errs.String(), "has no document none") {
		t.Errorf("exit code %d, it prints %q and says %q", code, out.String(), errs.String())
	}
}

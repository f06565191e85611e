package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// TestWireOfBridges is TestWire for bridges.
func TestWireOfBridges(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	file := parley.BridgeFile{Path: "arya/inbox/1.json", Digest: "d"}
	paused := true
	checkWire(t, []wired{
		{
			"bridges", func(ctx context.Context, c *Client) (any, error) { return c.Bridges(ctx) },
			"GET /v1/bridges", "", `{"items":[{"id":"b","status":{"running":true}}]}`,
			[]parley.BridgeView{{Bridge: parley.Bridge{ID: "b"}, Status: parley.BridgeStatus{Running: true}}},
		},
		{
			"add", func(ctx context.Context, c *Client) (any, error) {
				return c.AddBridge(ctx, parley.NewBridge{Layout: parley.LayoutInbox, Root: "/r", Agents: []string{"arya"}, Outside: true})
			},
			"POST /v1/bridges?async=true", `{"layout":"inbox","root":"/r","agents":["arya"],"outside":true}`, `{"id":"b","notices":["n"],"status":{}}`,
			parley.BridgeView{Bridge: parley.Bridge{ID: "b"}, Notices: []string{"n"}},
		},
		{
			"await", func(ctx context.Context, c *Client) (any, error) { return c.AwaitBridge(ctx, "b", 30*time.Second) },
			"GET /v1/bridges/b?wait=30", "", `{"id":"b","state":"running","status":{"running":true,"looked":true}}`,
			parley.BridgeView{Bridge: parley.Bridge{ID: "b"}, State: parley.BridgeRunning, Status: parley.BridgeStatus{Running: true, Looked: true}},
		},
		{
			"one", func(ctx context.Context, c *Client) (any, error) { return c.Bridge(ctx, "b") },
			"GET /v1/bridges/b", "", `{"id":"b","status":{"trouble":"no room"}}`,
			parley.BridgeView{Bridge: parley.Bridge{ID: "b"}, Status: parley.BridgeStatus{Trouble: "no room"}},
		},
		{
			"change", func(ctx context.Context, c *Client) (any, error) {
				return c.ChangeBridge(ctx, "b", parley.BridgeChange{Paused: &paused})
			},
			"PATCH /v1/bridges/b", `{"paused":true}`, `{"id":"b","paused":true,"status":{}}`,
			parley.BridgeView{Bridge: parley.Bridge{ID: "b", Paused: true}},
		},
		{
			"remove", func(ctx context.Context, c *Client) (any, error) { return nil, c.RemoveBridge(ctx, "b") },
			"DELETE /v1/bridges/b", "", "", nil,
		},
		{
			"unknown", func(ctx context.Context, c *Client) (any, error) {
				return c.Unknown(ctx, "b", []parley.BridgeFile{file})
			},
			"POST /v1/bridges/b/unknown", `{"files":[{"path":"arya/inbox/1.json","digest":"d"}]}`, `{"files":[{"path":"arya/inbox/1.json","digest":"d"}]}`,
			[]parley.BridgeFile{file},
		},
		{
			"arrive", func(ctx context.Context, c *Client) (any, error) {
				return c.Arrive(ctx, "b", []parley.Arrival{{BridgeFile: file, Name: "1", From: "arya", At: at, Draft: parley.Draft{Priority: high}}})
			},
			"POST /v1/bridges/b/arrivals",
			`{"arrivals":[{"path":"arya/inbox/1.json","digest":"d","name":"1","from":"arya","at":"2030-01-02T03:04:05Z","draft":{"priority":"high","content":{"text":""}}}]}`,
			`{"arrived":[{"error":{"code":"E001","message":"no","recoverable":false}}]}`,
			[]parley.Arrived{{Error: &parley.Error{Code: parley.NotPermitted, Message: "no"}}},
		},
		{
			"departures", func(ctx context.Context, c *Client) (any, error) {
				return c.Departures(ctx, "b", parley.DepartureQuery{Channels: []string{"x", "y"}, Limit: 7, Wait: 90 * time.Second})
			},
			"GET /v1/bridges/b/departures?channels=x%2Cy&limit=7&wait=50", "", `{"items":[{"id":"1","name":"n","message":{"id":"m"},"task":{"id":"task-1"}}]}`,
			[]parley.Departure{{ID: "1", Name: "n", Message: parley.Message{ID: "m"}, Task: &parley.Task{ID: "task-1"}}},
		},
		{
			"what was written", func(ctx context.Context, c *Client) (any, error) {
				return c.Departures(ctx, "b", parley.DepartureQuery{Written: true, After: "9"})
			},
			"GET /v1/bridges/b/departures?after=9&wait=0&written=true", "", `{"items":[]}`,
			[]parley.Departure{},
		},
		{
			"report", func(ctx context.Context, c *Client) (any, error) {
				return nil, c.Report(ctx, "b", []parley.DepartureReport{{ID: "1", State: parley.DepartureSeen}})
			},
			"POST /v1/bridges/b/reports", `{"reports":[{"id":"1","state":"seen"}]}`, "", nil,
		},
		{
			"beat", func(ctx context.Context, c *Client) (any, error) {
				return nil, c.Beat(ctx, "b", []parley.Beat{{Agent: "arya", State: parley.Awake, At: at}})
			},
			"POST /v1/bridges/b/beats", `{"beats":[{"agent":"arya","state":"AWAKE","at":"2030-01-02T03:04:05Z"}]}`, "", nil,
		},
		{
			"note", func(ctx context.Context, c *Client) (any, error) {
				return nil, c.NoteBridge(ctx, "b", parley.BridgeStatus{Running: true, Imported: 3})
			},
			"PUT /v1/bridges/b/status", `{"running":true,"imported":3,"exported":0,"rejected":0,"evicted":0,"waiting":0}`, "", nil,
		},
		{
			"tasks", func(ctx context.Context, c *Client) (any, error) { return c.BridgeTasks(ctx, "b", 12) },
			"GET /v1/bridges/b/tasks?after=12", "", `{"tasks":[{"id":"task-1"}],"up_to":20,"more":true}`,
			parley.BridgeTasks{Tasks: []parley.Task{{ID: "task-1"}}, UpTo: 20, More: true},
		},
	})
}

// counting is a hub that answers for each document it gets, and fails at one.
type counting struct {
	requests [][]string // the names in each
	failsAt  string
}

func (h *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Arrivals []parley.Arrival `json:"arrivals"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	var names []string
	out := []parley.Arrived{}
	for _, a := range in.Arrivals {
		names = append(names, a.Name)
		out = append(out, parley.Arrived{Message: a.Name})
		if a.Name == h.failsAt {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"code":"E002","detail":"busy"}`))
			return
		}
	}
	h.requests = append(h.requests, names)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"arrived": out})
}

// What is too much for one request goes in several, in its order; what cannot be split goes alone.
func TestArrivalsGoInPartsOfBoundedSize(t *testing.T) {
	doc := func(name string, size int) parley.Arrival {
		return parley.Arrival{Name: name, Draft: parley.Draft{Content: parley.Content{Text: strings.Repeat("x", size)}}}
	}
	list := []parley.Arrival{doc("a", 3<<20), doc("b", 1<<19), doc("c", 1<<20), doc("d", 5<<20), doc("e", 1)}
	hub := &counting{}
	c := to(t, hub, Options{})
	got, err := c.Arrive(t.Context(), "b", list)
	if err != nil || len(got) != 5 || got[3].Message != "d" {
		t.Errorf("got %v, %v", got, err)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}, {"d"}, {"e"}}, hub.requests); diff != "" {
		t.Error(diff)
	}
	hub.failsAt = "c"
	got, err = c.Arrive(t.Context(), "b", list)
	if len(got) != 2 || parley.AsError(err).Code != parley.Unavailable {
		t.Errorf("after a failure: %v, %v; want what became of those before", got, err)
	}
	hub.requests = nil
	if got, err := c.Arrive(t.Context(), "b", nil); err != nil || got != nil || hub.requests != nil {
		t.Errorf("nothing: %v, %v, asked %v", got, err, hub.requests)
	}
}

package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

const canary = "the words of a message"

// receiver is a collector that takes traces by OTLP over HTTP.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	spans  map[string]*otlp.Span // by id: what is sent twice is the same
	raw    bytes.Buffer
	header http.Header
	calls  chan struct{}
}

func receive(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK, spans: map[string]*otlp.Span{}, calls: make(chan struct{}, 1000)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.calls <- struct{}{} }()
	if r.status != http.StatusOK || q.URL.Path != "/v1/traces" {
		http.Error(w, "no", max(r.status, http.StatusBadRequest))
		return
	}
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(q.Body)
	}
	raw, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &sent)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.raw.Write(raw)
	r.header = q.Header
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				r.spans[hex.EncodeToString(s.SpanId)] = s
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// span is the span with an id, as one in a trace.
func (r *receiver) span(t *testing.T, id [8]byte, trace string) *otlp.Span {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.spans[hex.EncodeToString(id[:])]
	if s == nil {
		t.Fatalf("there is no span %x among %d", id, len(r.spans))
	}
	if got := hex.EncodeToString(s.TraceId); got != parley.TraceKey(trace) {
		t.Errorf("span %s is in the trace %s, want %s", s.Name, got, trace)
	}
	return s
}

// tracedHub is a hub with two agents, where a run can be made step by step.
type tracedHub struct{ *hubtest.Fixture }

func newTracedHub(t *testing.T) tracedHub {
	t.Helper()
	w := tracedHub{hubtest.New(t, hubtest.SQLite, hubtest.SQLite.NewPlace(t), hubtest.RealTime)}
	w.AddScriptAgents("arya", "gendry")
	return w
}

// converse lets arya answer the owner, and write to gendry meanwhile.
func (w tracedHub) converse(trace string, plan ...hub.RunPlan) (asked, told, answer parley.Message, run parley.Run) {
	w.T.Helper()
	ctx := context.Background()
	r, err := w.Post(ctx, hubtest.Owner, parley.Draft{Direct: []string{"arya"}, TraceID: trace, Content: parley.Content{Text: canary}})
	w.NoError(err)
	started, err := w.NextRun(ctx, "arya", hub.RunOptions{Node: "test", Plan: func(parley.Agent) hub.RunPlan { return append(plan, hub.RunPlan{})[0] }})
	w.NoError(err)
	if started == nil {
		w.T.Fatalf("no run was made")
	}
	if len(plan) == 0 {
		w.NoError(w.BeginRun(ctx, started.Run.ID, parley.Process{}))
	}
	written, err := w.Post(ctx, started.Caller(), parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: canary}})
	w.NoError(err)
	run, err = w.FinishRun(ctx, started.Run.ID, parley.Result{Text: canary, Usage: parley.Usage{InputTokens: 7}}, nil)
	w.NoError(err)
	shown, err := w.Message(ctx, hubtest.Owner, run.Answer)
	w.NoError(err)
	return r.Message, written.Message, shown.Message, run
}

// startExporter exports what happens until the receiver has had a call that went well.
func (w tracedHub) startExporter(r *receiver) (stop func()) {
	w.T.Helper()
	e, err := New(context.Background(), w.Hub, Options{
		Endpoint: r.URL, Headers: map[string]string{"Authorization": "Bearer secret"}, Node: "test", Log: slog.New(slog.DiscardHandler),
	})
	w.NoError(err)
	s := w.Follow("traces", e)
	s.Start(context.Background())
	<-s.Started()
	return func() {
		s.Stop()
		w.NoError(e.Close(context.Background()))
	}
}

// awaitSpan waits until a span was received.
func (r *receiver) awaitSpan(id [8]byte) {
	for {
		r.mu.Lock()
		_, found := r.spans[hex.EncodeToString(id[:])]
		r.mu.Unlock()
		if found {
			return
		}
		<-r.calls
	}
}

func TestSpans(t *testing.T) {
	w, r := newTracedHub(t), receive(t)
	defer w.startExporter(r)()
	const trace = "nightly-build"
	asked, told, answer, run := w.converse(trace)
	r.awaitSpan(parley.RunSpan(run.ID))
	message := r.span(t, parley.MessageSpan(asked.ID), trace)
	if len(message.ParentSpanId) != 0 || message.Kind != otlp.Span_SPAN_KIND_PRODUCER {
		t.Errorf("the first message is %v", message)
	}
	child := func(s *otlp.Span, parent [8]byte) {
		t.Helper()
		if !bytes.Equal(s.ParentSpanId, parent[:]) {
			t.Errorf("%s is the child of %x, want %x", s.Name, s.ParentSpanId, parent)
		}
	}
	var before uint64
	for _, state := range []parley.DeliveryState{parley.DeliveryDelivered, parley.DeliverySeen, parley.DeliveryAnswered} {
		stateSpan := r.span(t, parley.StateSpan(asked.ID, "arya", state, run.ID), trace)
		child(stateSpan, parley.MessageSpan(asked.ID))
		if stateSpan.Name != string(state) || stateSpan.EndTimeUnixNano < stateSpan.StartTimeUnixNano || stateSpan.StartTimeUnixNano < before {
			t.Errorf("the span of %s is %v", state, stateSpan)
		}
		before = stateSpan.EndTimeUnixNano
	}
	child(r.span(t, parley.RunSpan(run.ID), trace), parley.StateSpan(asked.ID, "arya", parley.DeliveryDelivered, run.ID))
	child(r.span(t, parley.MessageSpan(told.ID), trace), parley.RunSpan(run.ID))
	child(r.span(t, parley.MessageSpan(answer.ID), trace), parley.RunSpan(run.ID))
	if strings.Contains(r.raw.String(), canary) {
		t.Error("the spans have what was said")
	}
	if got := r.header.Get("Authorization"); got != "Bearer secret" {
		t.Errorf("it came with %q", got)
	}
}

// TestInstantRunsHaveTheSameSpans: where a run starts at once, there are the same spans.
func TestInstantRunsHaveTheSameSpans(t *testing.T) {
	w, r := newTracedHub(t), receive(t)
	defer w.startExporter(r)()
	asked, _, _, run := w.converse("at-once", hub.RunPlan{Instant: true})
	r.awaitSpan(parley.RunSpan(run.ID))
	for _, state := range []parley.DeliveryState{parley.DeliveryDelivered, parley.DeliverySeen, parley.DeliveryAnswered} {
		r.span(t, parley.StateSpan(asked.ID, "arya", state, run.ID), "at-once")
	}
}

// TestACollectorThatIsAway: what happens meanwhile is exported when it is back, and nothing waits for it.
func TestACollectorThatIsAway(t *testing.T) {
	w, r := newTracedHub(t), receive(t)
	r.answer(http.StatusUnauthorized)
	stop := w.startExporter(r)
	_, _, _, first := w.converse("one")
	<-r.calls
	stop() // and the hub is restarted meanwhile
	r.answer(http.StatusOK)
	defer w.startExporter(r)()
	_, _, _, second := w.converse("two")
	r.awaitSpan(parley.RunSpan(second.ID))
	r.span(t, parley.RunSpan(first.ID), "one")
}

// TestARefusalIsNotRepeated: what a collector finds malformed does not hold up the rest.
func TestARefusalIsNotRepeated(t *testing.T) {
	w, r := newTracedHub(t), receive(t)
	r.answer(http.StatusBadRequest)
	defer w.startExporter(r)()
	w.converse("one")
	<-r.calls
	r.answer(http.StatusOK)
	_, _, _, run := w.converse("two")
	r.awaitSpan(parley.RunSpan(run.ID))
}

func TestEndpoints(t *testing.T) {
	for _, endpoint := range []string{"", "collector:4318", "ftp://x", "http://"} {
		if _, err := New(t.Context(), nil, Options{Endpoint: endpoint}); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

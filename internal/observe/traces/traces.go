// Package traces exports the events of a hub as OpenTelemetry traces: a span for each message, for each state of each delivery,
// and for each run.
//
// The exporter makes spans from stored events. So the spans are complete after a restart, and an unreachable collector costs
// neither messages nor memory: the exporter waits. The id of a span depends only on what the span describes, so a span that is
// exported twice stays one span. No span contains the content of a message.
package traces

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/steps"
)

// Options configure an exporter.
type Options struct {
	Endpoint string            // of the collector, like http://127.0.0.1:4318; New adds /v1/traces
	Headers  map[string]string // of every request, such as credentials
	Node     string            // name of the process that exports
	Log      *slog.Logger
}

// Hub looks up data that the events do not contain.
type Hub interface {
	steps.Hub
	// PostedBy returns the runs that posted messages, by the id of the message. It leaves out messages that no run posted.
	PostedBy(ctx context.Context, messages []string) (map[string]parley.Run, error)
}

// Exporter is a hub.Follower that exports events as spans.
type Exporter struct {
	hub      Hub
	reader   *steps.Reader
	maker    spanMaker
	client   *otlptrace.Exporter
	recorder *statusRecorder
	log      *slog.Logger
}

const (
	callTimeout  = 10 * time.Second
	maxRetryTime = 5 * time.Second // of one batch; after that the follower retries
)

// New makes an exporter. It does not connect to the collector yet. It returns E003 if the endpoint is not a URL.
func New(ctx context.Context, h Hub, o Options) (*Exporter, error) {
	target, err := url.Parse(o.Endpoint)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, parley.Errorf(parley.BadInput, "cannot send traces to %q", o.Endpoint).Suggest("set traces.endpoint to a URL like http://127.0.0.1:4318")
	}
	if !strings.HasSuffix(target.Path, "/v1/traces") {
		target = target.JoinPath("v1", "traces")
	}
	recorder := &statusRecorder{next: http.DefaultTransport}
	client, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(target.String()), otlptracehttp.WithHeaders(o.Headers), otlptracehttp.WithTimeout(callTimeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: maxRetryTime, MaxElapsedTime: maxRetryTime}),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: recorder, Timeout: callTimeout}),
	)
	if err != nil {
		return nil, err
	}
	return &Exporter{hub: h, reader: steps.NewReader(h), maker: newSpanMaker(o.Node), client: client, recorder: recorder, log: o.Log}, nil
}

// Close closes the connections to the collector.
func (e *Exporter) Close(ctx context.Context) error { return e.client.Shutdown(ctx) }

// Take implements hub.Follower. It drops spans that the collector refuses for good.
func (e *Exporter) Take(ctx context.Context, batch []hub.Followed) error {
	spans, err := e.spans(ctx, batch)
	if err != nil || len(spans) == 0 {
		return err
	}
	e.recorder.status = 0
	err = e.client.ExportSpans(ctx, spans)
	if err != nil && slices.Contains(permanentStatuses, e.recorder.status) {
		e.log.Warn("the collector refused spans; the hub drops them", "spans", len(spans), "error", err)
		return nil
	}
	return err
}

// permanentStatuses are the statuses after which the collector would refuse the same spans again.
var permanentStatuses = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}

// statusRecorder records the status of the collector's last response.
type statusRecorder struct {
	next   http.RoundTripper
	status int
}

func (s *statusRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.next.RoundTrip(r)
	if err == nil {
		s.status = response.StatusCode
	}
	return response, err
}

// spans returns the spans that end with the events of a batch.
func (e *Exporter) spans(ctx context.Context, batch []hub.Followed) (spans []sdk.ReadOnlySpan, err error) {
	steps, err := e.reader.Steps(ctx, batch)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		if step.Requeued || step.State != parley.DeliveryAccepted {
			spans = append(spans, e.maker.stateSpan(step))
		}
	}
	posted, err := e.messageSpans(ctx, batch)
	if err != nil {
		return nil, err
	}
	spans = append(append(spans, posted...), e.runSpans(batch)...)
	return slices.DeleteFunc(spans, func(s sdk.ReadOnlySpan) bool { return !s.SpanContext().IsValid() }), nil
}

package traces

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/steps"
)

// spanMaker makes the spans of one process of a hub.
type spanMaker struct{ resource *resource.Resource }

func newSpanMaker(node string) spanMaker {
	return spanMaker{resource.NewSchemaless(attribute.String("service.name", "parley"),
		attribute.String("service.version", parley.Version), attribute.String("service.instance.id", node))}
}

// newSpan returns a span that is ready for export.
func (m spanMaker) newSpan(s tracetest.SpanStub) sdk.ReadOnlySpan {
	s.Resource = m.resource
	s.InstrumentationScope = instrumentation.Scope{Name: "github.com/parley-hub/parley", Version: parley.Version}
	if s.EndTime.Before(s.StartTime) { // the clock was set back
		s.EndTime = s.StartTime
	}
	return s.Snapshot()
}

func spanContext(traceID string, span [8]byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: parley.TraceBytes(traceID), SpanID: span, TraceFlags: trace.FlagsSampled,
	})
}

// stateSpan returns the span of a delivery's step to a state. It begins when the delivery reached its previous state.
func (m spanMaker) stateSpan(s steps.Step) sdk.ReadOnlySpan {
	name := string(s.State)
	if s.Requeued {
		name = "given back"
	}
	return m.newSpan(tracetest.SpanStub{
		Name: name, SpanKind: trace.SpanKindInternal, StartTime: s.PreviousAt, EndTime: s.At,
		SpanContext: spanContext(s.Message.TraceID, parley.StateSpan(s.Message.ID, s.Recipient, s.State, s.Attempt)),
		Parent:      spanContext(s.Message.TraceID, parley.MessageSpan(s.Message.ID)),
		Attributes:  append(messageAttributes(s.Message), attribute.String("parley.recipient", s.Recipient), attribute.Bool("parley.waking", s.Waking)),
		Status:      status(s.Failure, s.Status() == steps.Failed || s.Requeued),
	})
}

// status returns the status of a span. It contains only the code of a failure, because the message may quote agents.
func status(why *parley.Error, failed bool) sdk.Status {
	switch {
	case !failed:
		return sdk.Status{}
	case why == nil:
		return sdk.Status{Code: codes.Error}
	default:
		return sdk.Status{Code: codes.Error, Description: string(why.Code)}
	}
}

func messageAttributes(m parley.Message) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("messaging.system", "parley"), attribute.String("messaging.message.id", m.ID),
		attribute.String("parley.conversation", m.Conversation), attribute.String("parley.from", m.From),
		attribute.String("parley.type", string(m.Type)), attribute.String("parley.source", m.Source), attribute.Int64("parley.seq", m.Seq),
	}
	if m.Task != "" {
		list = append(list, attribute.String("parley.task", m.Task))
	}
	return list
}

// messageSpans returns the spans of new messages. The parent of a span is the run that posted the message, or else the
// message that it answers, if that is in the same trace.
func (e *Exporter) messageSpans(ctx context.Context, batch []hub.Followed) (spans []sdk.ReadOnlySpan, err error) {
	var ids []string
	for _, event := range batch {
		if event.Posted != nil {
			ids = append(ids, event.Posted.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	posters, err := e.hub.PostedBy(ctx, ids)
	for _, event := range batch {
		if event.Posted == nil || err != nil {
			continue
		}
		var parent trace.SpanContext
		if run, found := posters[event.Posted.ID]; found {
			parent = sameTrace(*event.Posted, run.TraceID, parley.RunSpan(run.ID))
		} else {
			parent, err = e.parentOfAnswer(ctx, *event.Posted)
		}
		spans = append(spans, e.maker.messageSpan(*event.Posted, parent))
	}
	return spans, err
}

func (m spanMaker) messageSpan(msg parley.Message, parent trace.SpanContext) sdk.ReadOnlySpan {
	return m.newSpan(tracetest.SpanStub{
		Name: "message", SpanKind: trace.SpanKindProducer, StartTime: msg.CreatedAt, EndTime: msg.CreatedAt,
		SpanContext: spanContext(msg.TraceID, parley.MessageSpan(msg.ID)), Parent: parent, Attributes: messageAttributes(msg),
	})
}

// sameTrace returns a span as the parent of a message's span, or no parent if the span is in another trace.
func sameTrace(m parley.Message, traceID string, span [8]byte) trace.SpanContext {
	if parley.TraceKey(traceID) != parley.TraceKey(m.TraceID) {
		return trace.SpanContext{}
	}
	return spanContext(traceID, span)
}

// parentOfAnswer returns the span of the message that a message answers, or no parent.
func (e *Exporter) parentOfAnswer(ctx context.Context, m parley.Message) (trace.SpanContext, error) {
	if m.InReplyTo == "" {
		return trace.SpanContext{}, nil
	}
	parent, err := e.reader.Message(ctx, m.InReplyTo)
	if steps.IsMissing(err) {
		return trace.SpanContext{}, nil
	}
	return sameTrace(m, parent.TraceID, parley.MessageSpan(parent.ID)), err
}

// runSpans returns the spans of the runs that end in a batch. It skips deleted runs.
func (e *Exporter) runSpans(batch []hub.Followed) (spans []sdk.ReadOnlySpan) {
	for _, event := range batch {
		if event.EndedRun != nil {
			spans = append(spans, e.maker.runSpan(*event.EndedRun))
		}
	}
	return spans
}

// runSpan returns the span of a run. Its parent is the newest of the deliveries that started the run.
func (m spanMaker) runSpan(r parley.Run) sdk.ReadOnlySpan {
	end := time.Now()
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	var parent trace.SpanContext
	if n := len(r.Triggers); n > 0 {
		parent = spanContext(r.TraceID, parley.StateSpan(r.Triggers[n-1], r.Agent, parley.DeliveryDelivered, r.ID))
	}
	return m.newSpan(tracetest.SpanStub{
		Name: "run", SpanKind: trace.SpanKindConsumer, StartTime: r.CreatedAt, EndTime: end,
		SpanContext: spanContext(r.TraceID, parley.RunSpan(r.ID)), Parent: parent,
		Attributes: []attribute.KeyValue{
			attribute.String("parley.run", r.ID), attribute.String("parley.agent", r.Agent), attribute.String("parley.runtime", r.Runtime),
			attribute.String("parley.conversation", r.Conversation), attribute.String("parley.outcome", string(r.State)),
			attribute.Int("parley.attempt", r.Attempt), attribute.Int64("gen_ai.usage.input_tokens", r.InputTokens),
			attribute.Int64("gen_ai.usage.output_tokens", r.OutputTokens), attribute.Float64("parley.cost", r.Cost),
		},
		Status: status(r.Failure, r.State != parley.RunSucceeded),
	})
}

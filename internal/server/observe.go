package server

import (
	"context"
	"os"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/alert"
	"github.com/parley-hub/parley/internal/observe/metrics"
	"github.com/parley-hub/parley/internal/observe/msglog"
	"github.com/parley-hub/parley/internal/observe/steps"
	"github.com/parley-hub/parley/internal/observe/traces"
	"github.com/parley-hub/parley/internal/service"
)

// observers are the parts that watch the hub.
type observers struct {
	metrics  *metrics.Metrics
	alerts   *alert.Watcher
	messages httpapi.MessageLog // nil if it is switched off
}

// currentLog is the message log. Before each read, it waits until the log contains the events that have happened so far.
type currentLog struct {
	*msglog.Log
	hub  *hub.Hub
	name string // of the log as a follower of the hub
}

// Tail implements httpapi.MessageLog.
func (l currentLog) Tail(ctx context.Context, f parley.LogFilter, follow bool, pass func([]parley.LogLine) error) error {
	l.hub.AwaitFollower(ctx, l.name)
	return l.Log.Tail(ctx, f, follow, pass)
}

func (s *Server) newObserved() observers {
	limits := alert.Limits{
		Write: s.Config.Alerts.Write, Read: s.Config.Alerts.Read, Latency: s.Config.Alerts.Latency,
		Depth: s.Config.Alerts.Depth, Errors: s.Config.Alerts.Errors,
		Delays: alert.Delays{On: s.Config.Alerts.After, Off: s.Config.Alerts.Clear},
	}
	return observers{metrics: metrics.New(), alerts: alert.New(limits, s.Log)}
}

// Wrote implements hub.Observer.
func (o observers) Wrote(took time.Duration) {
	o.metrics.Wrote(took)
	o.alerts.Wrote(took)
}

// Read implements hub.Observer.
func (o observers) Read(took time.Duration) {
	o.metrics.Read(took)
	o.alerts.Read(took)
}

// startObserving starts to pass the events of the hub to the message log, the metrics, the alerts and the traces.
func (s *Server) startObserving(ctx context.Context) error {
	node, err := s.lock.Node()
	if err != nil {
		return err
	}
	name := "log/" + node // each process writes a complete log of its own
	s.observed.metrics.Watch(s.hub)
	consumers := []steps.Consumer{s.observed.metrics, s.observed.alerts}
	if size := s.Config.Log.Messages.Size; size > 0 {
		log, err := msglog.Open(msglog.Options{Dir: s.Home.Messages(), Size: size, Files: s.Config.Log.Messages.Files})
		if err != nil {
			return err
		}
		s.onStop(log.Close)
		s.observed.messages = currentLog{log, s.hub, name}
		consumers = append(consumers, log)
	}
	s.background(ctx, s.hub.Follow(name, steps.NewFollower(s.hub, consumers...)))
	s.background(ctx, s.observed.alerts.Watch(s.hub))
	return s.startTraces(ctx, node)
}

// startTraces starts to export traces, if an endpoint is configured.
func (s *Server) startTraces(ctx context.Context, node string) error {
	endpoint := s.Config.Traces.Endpoint
	if endpoint == "" {
		endpoint = os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if endpoint == "" {
		return nil
	}
	exporter, err := traces.New(ctx, s.hub, traces.Options{Endpoint: endpoint, Headers: s.Config.Traces.Headers, Node: node, Log: s.Log})
	if err != nil {
		return err
	}
	s.onStop(func() error { return exporter.Close(context.Background()) })
	s.background(ctx, s.hub.Follow("traces", exporter))
	return nil
}

// background starts a service, which Stop stops.
func (s *Server) background(ctx context.Context, run *service.Service) {
	run.Start(context.WithoutCancel(ctx))
	<-run.Started()
	s.onStop(func() error { run.Stop(); return nil })
}

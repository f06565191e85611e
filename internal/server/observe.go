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

// observers is what sees how the hub does.
type observers struct {
	metrics  *metrics.Metrics
	alerts   *alert.Watcher
	messages httpapi.MessageLog // none, if it is switched off
}

// currentLog is the message log with everything in it that has happened before somebody reads it.
type currentLog struct {
	*msglog.Log
	hub  *hub.Hub
	name string // by which it follows
}

// Tail implements httpapi.MessageLog.
func (u currentLog) Tail(ctx context.Context, f parley.LogFilter, follow bool, tell func([]parley.LogLine) error) error {
	u.hub.AwaitFollower(ctx, u.name)
	return u.Log.Tail(ctx, f, follow, tell)
}

func (s *Server) newObserved() observers {
	limits := alert.Limits{
		Write: s.Config.Alerts.Write, Read: s.Config.Alerts.Read, Latency: s.Config.Alerts.Latency,
		Depth: s.Config.Alerts.Depth, Errors: s.Config.Alerts.Errors,
		Hold: alert.Hold{On: s.Config.Alerts.After, Off: s.Config.Alerts.Clear},
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

// startObserving begins to follow what happens: for the message log, the metrics, the alerts and the traces.
func (s *Server) startObserving(ctx context.Context) error {
	node, err := s.lock.Node()
	if err != nil {
		return err
	}
	name := "log/" + node // each process has a log of its own, with everything in it
	s.observed.metrics.Watch(s.hub)
	tellers := []steps.Consumer{s.observed.metrics, s.observed.alerts}
	if size := s.Config.Log.Messages.Size; size > 0 {
		log, err := msglog.Open(msglog.Options{Dir: s.Home.Messages(), Size: size, Files: s.Config.Log.Messages.Files})
		if err != nil {
			return err
		}
		s.onStop(log.Close)
		s.observed.messages = currentLog{log, s.hub, name}
		tellers = append(tellers, log)
	}
	s.background(ctx, s.hub.Follow(name, steps.NewFollower(s.hub, tellers...)))
	s.background(ctx, s.observed.alerts.Watch(s.hub))
	return s.startTraces(ctx, node)
}

// startTraces begins to export traces, if that is configured.
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

// background runs a service until the stop.
func (s *Server) background(ctx context.Context, run *service.Service) {
	run.Start(context.WithoutCancel(ctx))
	<-run.Started()
	s.onStop(func() error { run.Stop(); return nil })
}

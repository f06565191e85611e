package feed

import (
	"cmp"
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// LogFilter replaces the names in a filter by ids, so that it selects lines of the message log. The filter may name a trace by
// the id of one of its messages, and an agent by any of its names, even if the agent was removed. Only owners may call it.
func (s *Service) LogFilter(ctx context.Context, caller unit.Caller, f parley.LogFilter) (parley.LogFilter, error) {
	err := s.View(ctx, caller, unit.OpReadLog, func(u *unit.Unit) (err error) {
		if err := f.Check(); err != nil {
			return err
		}
		if f.Trace, err = wholeTrace(u, f.Trace); err != nil {
			return err
		}
		f.Agent, err = agents.Named(u, f.Agent)
		return err
	})
	return f, err
}

// wholeTrace returns the id of the trace that an id names: the trace itself, or the trace of a message, run, approval or task.
func wholeTrace(u *unit.Unit, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	m, err := reading.FindTracedMessage(u, id)
	if err != nil {
		return "", err
	}
	if m != nil {
		return m.TraceID, nil
	}
	named, err := names.TraceOfWork(u, id)
	return cmp.Or(named, id), err
}

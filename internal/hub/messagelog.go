package hub

import (
	"cmp"
	"context"

	"github.com/parley-hub/parley"
)

// LogFilter makes of a filter as somebody gives it one that selects lines of the message log: the trace may be named by the id
// of one of its messages, the agent by any of its names, also after it was removed. Only owners may.
func (h *Hub) LogFilter(ctx context.Context, caller Caller, f parley.LogFilter) (parley.LogFilter, error) {
	err := h.view(ctx, caller, opReadLog, func(s *scene) (err error) {
		if err := f.Check(); err != nil {
			return err
		}
		if f.Trace, err = s.wholeTrace(f.Trace); err != nil {
			return err
		}
		f.Agent, err = s.named(f.Agent)
		return err
	})
	return f, err
}

// wholeTrace is the trace that an id names: its own, or that of one of its messages.
func (s *scene) wholeTrace(id string) (string, error) {
	if id == "" {
		return "", nil
	}
	m, err := s.tracedBy(id)
	if err != nil {
		return "", err
	}
	if m != nil {
		return m.TraceID, nil
	}
	named, err := s.traceOfWork(id)
	return cmp.Or(named, id), err
}

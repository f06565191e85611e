package runs

import (
	"context"
	"time"

	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// progressPause is the time between two events about progress.
const progressPause = time.Second

// RunSays adds progress text of a live run. The hub writes an event about it at most once a second.
func (s *Service) RunSays(run, text string) {
	s.Live.Change(run, func(live *local.LiveRun) {
		live.Said = local.Tail(live.Said+text, local.MaxProgressText)
		local.Signal(s.Live.Wake)
	})
}

// RunLogs keeps the last output of a live run.
func (s *Service) RunLogs(run string, output []byte) {
	s.Live.Change(run, func(live *local.LiveRun) {
		if live.Output = append(live.Output, output...); len(live.Output) > 2*local.MaxOutput {
			live.Output = append([]byte(nil), local.Tail(live.Output, local.MaxOutput)...)
		}
	})
}

// showProgress writes events about the progress of live runs until ctx ends.
func (s *Service) showProgress(ctx context.Context, started func()) {
	started()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-s.Live.Wake:
		}
		if err := tellProgress(ctx, s.Core); err != nil && ctx.Err() == nil {
			s.Config.Log.Error("cannot store the progress of live runs; retrying with the next progress", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(progressPause):
		}
	}
}

// tellProgress writes one event for each run with new progress text.
func tellProgress(ctx context.Context, core *unit.Core) error {
	events := core.Live.Progress()
	if len(events) == 0 {
		return nil
	}
	return core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		for _, e := range events {
			u.Note(e)
		}
		return nil
	})
}

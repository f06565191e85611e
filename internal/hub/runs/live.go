package runs

import (
	"context"
	"time"

	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const progressPause = time.Second

// RunSays tells those who follow what a live run says meanwhile, at most once a second.
func (s *Service) RunSays(run, text string) {
	s.Live.Change(run, func(one *local.LiveRun) {
		one.Said = local.Tail(one.Said+text, local.MostSaid)
		local.Signal(s.Live.Wake)
	})
}

// RunLogs keeps the last of a live run's output.
func (s *Service) RunLogs(run string, output []byte) {
	s.Live.Change(run, func(one *local.LiveRun) {
		if one.Output = append(one.Output, output...); len(one.Output) > 2*local.MostOutput {
			one.Output = append([]byte(nil), local.Tail(one.Output, local.MostOutput)...)
		}
	})
}

// showProgress writes down what runs say, while they say something.
func (s *Service) showProgress(ctx context.Context, started func()) {
	started()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-s.Live.Wake:
		}
		if err := tellProgress(ctx, s.Core); err != nil && ctx.Err() == nil {
			s.Config.Log.Error("what runs say could not be written down", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(progressPause):
		}
	}
}

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

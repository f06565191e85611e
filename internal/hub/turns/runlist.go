package turns

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Runs lists runs, the newest first. An agent sees its own runs, an owner sees all.
func (s *Service) Runs(ctx context.Context, caller unit.Caller, f parley.RunFilter) (list []parley.Run, err error) {
	f.Limit = unit.Clamp(f.Limit, 100, 1000)
	err = s.View(ctx, caller, unit.OpListRuns, func(u *unit.Unit) error {
		if f.Agent, err = runs.WhoseRuns(u, f.Agent); err != nil {
			return err
		}
		if f.Conversation != "" {
			p, err := conversations.Conversation(u, f.Conversation)
			if err != nil {
				return err
			}
			f.Conversation = p.ID
		}
		u.SkipUnreadable(nil)
		list, err = u.Runs().List(f)
		return err
	})
	return list, err
}

// Run shows one run with its posts. Its agent and owners may call it.
func (s *Service) Run(ctx context.Context, caller unit.Caller, id string) (view parley.RunView, err error) {
	if err := s.names.FindID(ctx, caller, unit.OpShowRun, parley.NounRun, &id); err != nil {
		return view, err
	}
	err = s.View(ctx, caller, unit.OpShowRun, func(u *unit.Unit) error {
		if view.Run, err = runs.Run(u, id); err != nil {
			return err
		}
		posts, err := u.Runs().Posts(view.ID)
		for _, p := range posts {
			view.Posts = append(view.Posts, p.Message)
		}
		return err
	})
	return view, err
}

// RunOutput returns the last part of a run's output. For a live run that is the output so far, and empty if the run belongs to
// another process.
func (s *Service) RunOutput(ctx context.Context, caller unit.Caller, id string) (output []byte, err error) {
	if err := s.names.FindID(ctx, caller, unit.OpReadOutput, parley.NounRun, &id); err != nil {
		return nil, err
	}
	err = s.View(ctx, caller, unit.OpReadOutput, func(u *unit.Unit) error {
		r, err := runs.Run(u, id)
		if err != nil {
			return err
		}
		if r.State.Live() {
			output = s.Live.Output(r.ID)
			return nil
		}
		output, err = u.Runs().Output(r.ID)
		return err
	})
	return output, err
}

// CancelRun cancels a run. An owner, the agent's manager and the agent itself may call it. The deliveries that woke the run
// fail once it has ended. A repeated call changes nothing.
func (s *Service) CancelRun(ctx context.Context, caller unit.Caller, id, reason string) (r parley.Run, err error) {
	if err := parley.CheckReason(reason); err != nil {
		return r, err
	}
	if err := s.names.FindID(ctx, caller, unit.OpCancelRun, parley.NounRun, &id); err != nil {
		return r, err
	}
	err = s.Update(ctx, caller, unit.OpCancelRun, func(u *unit.Unit) error {
		if r, err = runs.ManagedRun(u, id); err != nil || r.Cancel != "" {
			return err
		}
		if !r.State.Live() {
			return runs.RunEndedError(r.ID)
		}
		why := "by " + u.Me.ID
		if reason != "" {
			why += ": " + reason
		}
		if err := runs.Cancel(u, &r, why); err != nil {
			return err
		}
		return access.Audit(u, "run.cancel", r.ID, map[string]any{"agent": r.Agent, "reason": reason})
	})
	return r, err
}

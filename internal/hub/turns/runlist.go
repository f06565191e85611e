package turns

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Runs lists runs, the newest first: an agent's own, and for owners those of all.
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
		u.LeaveOut(nil)
		list, err = u.Runs().List(f)
		return err
	})
	return list, err
}

// Run shows one run with what it has posted: to its agent, and to owners.
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

// RunOutput is the last of what a run has put out: of a live one so far, if it lives in this process.
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

// CancelRun says that a run is to end: an owner may, the agent's manager, and the agent itself. What woke it
// has failed once it has ended. Doing it again changes nothing.
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
			return runs.RunOver(r.ID)
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

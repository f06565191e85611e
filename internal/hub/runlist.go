package hub

import (
	"context"
	"errors"
	"strings"

	"github.com/parley-hub/parley"
)

// Runs lists runs, the newest first: an agent's own, and for owners those of all.
func (h *Hub) Runs(ctx context.Context, caller Caller, f parley.RunFilter) (list []parley.Run, err error) {
	f.Limit = clamp(f.Limit, 100, 1000)
	err = h.view(ctx, caller, opListRuns, func(s *scene) error {
		if f.Agent, err = s.whoseRuns(f.Agent); err != nil {
			return err
		}
		if f.Conversation != "" {
			p, err := s.conversation(f.Conversation)
			if err != nil {
				return err
			}
			f.Conversation = p.ID
		}
		s.LeaveOut(nil)
		list, err = s.Runs().List(f)
		return err
	})
	return list, err
}

func (s *scene) whoseRuns(name string) (string, error) {
	if name == "" {
		if s.seesAll() {
			return "", nil
		}
		return s.me.ID, nil
	}
	a, err := s.findAgent(name) // of those that were removed too
	if errors.Is(err, parley.ErrNotFound) {
		return "", unknown{"agent", name}
	}
	if err == nil && a.ID != s.me.ID {
		err = s.mustOwn("see the runs of others")
	}
	return a.ID, err
}

// Run shows one run with what it has posted: to its agent, and to owners.
func (h *Hub) Run(ctx context.Context, caller Caller, id string) (view parley.RunView, err error) {
	if err := h.findID(ctx, caller, opShowRun, parley.NounRun, &id); err != nil {
		return view, err
	}
	err = h.view(ctx, caller, opShowRun, func(s *scene) error {
		if view.Run, err = s.run(id); err != nil {
			return err
		}
		posts, err := s.Runs().Posts(view.ID)
		for _, p := range posts {
			view.Posts = append(view.Posts, p.Message)
		}
		return err
	})
	return view, err
}

// RunOutput is the last of what a run has put out: of a live one so far, if it lives in this process.
func (h *Hub) RunOutput(ctx context.Context, caller Caller, id string) (output []byte, err error) {
	if err := h.findID(ctx, caller, opReadOutput, parley.NounRun, &id); err != nil {
		return nil, err
	}
	err = h.view(ctx, caller, opReadOutput, func(s *scene) error {
		r, err := s.run(id)
		if err != nil {
			return err
		}
		if r.State.Live() {
			output = h.live.output(r.ID)
			return nil
		}
		output, err = s.Runs().Output(r.ID)
		return err
	})
	return output, err
}

// CancelRun says that a run is to end: an owner may, the agent's manager, and the agent itself. What woke it
// has failed once it has ended. Doing it again changes nothing.
func (h *Hub) CancelRun(ctx context.Context, caller Caller, id, reason string) (r parley.Run, err error) {
	if err := parley.CheckReason(reason); err != nil {
		return r, err
	}
	if err := h.findID(ctx, caller, opCancelRun, parley.NounRun, &id); err != nil {
		return r, err
	}
	err = h.update(ctx, caller, opCancelRun, func(s *scene) error {
		if r, err = s.managedRun(id); err != nil || r.Cancel != "" {
			return err
		}
		if !r.State.Live() {
			return runOver(r.ID)
		}
		why := "by " + s.me.ID
		if reason != "" {
			why += ": " + reason
		}
		if err := s.cancel(&r, why); err != nil {
			return err
		}
		return s.audit("run.cancel", r.ID, map[string]any{"agent": r.Agent, "reason": reason})
	})
	return r, err
}

// run finds a run that the caller may see.
func (s *scene) run(id string) (parley.Run, error) {
	r, err := s.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) || err == nil && r.Agent != s.me.ID && !s.seesAll() {
		return parley.Run{}, unknown{"run", id}
	}
	return r, err
}

// managedRun finds a run that the caller may end.
func (s *scene) managedRun(id string) (parley.Run, error) {
	r, err := s.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) {
		return r, unknown{"run", id}
	}
	if err != nil {
		return r, err
	}
	a, err := s.Agents().Find(r.Agent)
	if err == nil && a.Manager == s.me.ID {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return s.run(id)
}

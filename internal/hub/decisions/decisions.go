// Package decisions holds deciding on approvals: listing, approving, denying, by link, and making the approved call.
package decisions

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/channels"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/delegation"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/roster"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	access     *access.Service
	names      *names.Service
	contact    *contact.Service
	delegation *delegation.Service
	channels   *channels.Service
	reading    *reading.Service
	roster     *roster.Service
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, access *access.Service, names *names.Service, contact *contact.Service, delegation *delegation.Service, channels *channels.Service, reading *reading.Service, roster *roster.Service) *Service {
	return &Service{Core: core, access: access, names: names, contact: contact, delegation: delegation, channels: channels, reading: reading, roster: roster}
}

// Decide approves or denies a call. The first decision counts. The hub makes an approved call in the same update, as the
// requester and with the requester's present rights. If the call is refused then, the refusal is its result.
func (s *Service) Decide(ctx context.Context, caller unit.Caller, id string, d parley.Decision) (a parley.Approval, err error) {
	if err := d.Check(); err != nil {
		return a, err
	}
	if err := s.names.FindID(ctx, caller, unit.OpDecideApproval, parley.NounApproval, &id); err != nil {
		return a, err
	}
	call, err := prepareCall(ctx, s.Core, caller, id, d)
	if err != nil {
		return a, err
	}
	refused := false
	err = s.Update(ctx, caller, unit.OpDecideApproval, func(u *unit.Unit) (err error) {
		a, refused, err = recordDecision(u, caller, id, d, call)
		return err
	})
	failure := parley.AsError(err)
	if !refused || failure.Code == parley.Internal || failure.Reason == parley.StorageFull {
		return a, err
	}
	// The failed update has stored nothing of the call. Store why it was refused.
	err = s.Update(ctx, caller, unit.OpDecideApproval, func(u *unit.Unit) (err error) {
		a, _, err = recordDecision(u, caller, id, d, refusedWith(failure))
		return err
	})
	return a, err
}

// refusedWith returns an execution that only returns the refusal of a call.
func refusedWith(cause *parley.Error) unit.Execution {
	return func(*unit.Unit, parley.Approval) (unit.Result, error) {
		return unit.Result{Failure: cause, Refused: true}, nil
	}
}

// prepareCall reads the held call, and does the part of it that must happen outside an update. It returns nil if the call is
// denied.
func prepareCall(ctx context.Context, core *unit.Core, caller unit.Caller, id string, d parley.Decision) (unit.Execution, error) {
	var a parley.Approval
	err := core.View(ctx, caller, unit.OpDecideApproval, func(u *unit.Unit) (err error) {
		a, err = findDecidable(u, id)
		return err
	})
	if err != nil || !d.Approve {
		return nil, err
	}
	tool, known := core.Hooks.Calls[a.Call.Tool]
	if !known {
		return nil, parley.Errorf(parley.Internal, "the tool %s is unknown", a.Call.Tool)
	}
	as := unit.Caller{Agent: a.Agent, Source: a.Source, Approved: true}
	call, err := tool.Prepare(ctx, as, a.Call.Args)
	if err != nil {
		return refusedWith(parley.AsError(err)), nil
	}
	return call, nil
}

// findDecidable finds a pending approval that the caller may decide.
func findDecidable(u *unit.Unit, id string) (parley.Approval, error) {
	a, err := approvals.Find(u, id)
	if err == nil {
		err = approvals.CheckMayDecide(u, a)
	}
	if err == nil && a.State != parley.ApprovalPending {
		err = work.DecidedError(a)
	}
	return a, err
}

// recordDecision stores a decision, makes the call if it is approved, and tells the requester. refused means that the call
// itself has failed.
func recordDecision(u *unit.Unit, caller unit.Caller, id string, d parley.Decision, call unit.Execution) (a parley.Approval, refused bool, err error) {
	if a, err = findDecidable(u, id); err != nil {
		return a, false, err
	}
	to := parley.ApprovalDenied
	if d.Approve {
		to = parley.ApprovalApproved
	}
	err = work.SetApprovalState(u, &a, to, func(a *parley.Approval) { a.DecidedBy, a.DecidedAt, a.Note = u.Me.ID, &u.Now, d.Note })
	if err != nil {
		return a, false, err
	}
	err = access.Audit(u, "approval."+string(to), a.ID, map[string]any{
		"approval": a.ShortName(), "agent": a.Agent, "target": a.Target, "tool": a.Call.Tool, "digest": a.Digest, "note": d.Note, "by": caller.By, "source": caller.Source,
	})
	switch {
	case err != nil:
		return a, false, err
	case d.Approve:
		return executeCall(u, a, call)
	default:
		return a, false, work.TellDenied(u, &a)
	}
}

// executeCall makes an approved call in the name of the requester. It tells the requester the result, unless the call is an
// ask, whose answer comes later.
func executeCall(u *unit.Unit, a parley.Approval, call unit.Execution) (after parley.Approval, refused bool, err error) {
	agent, err := u.Agents().Find(a.Agent)
	if err != nil {
		return a, false, err
	}
	out, err := call(u.As(agent), a)
	if err != nil {
		u.EndAs(agent) // the requester's call was refused, not the decision
		return a, true, err
	}
	now, err := u.Approvals().Get(a.ID)
	if err != nil {
		return a, false, err
	}
	if a.Task = now.Task; out.Waits { // the call may have set the task
		return a, false, nil
	}
	if out.Refused {
		return a, false, work.EndRefused(u, &a, out.Failure)
	}
	return a, false, work.EndExecuted(u, &a, out.Text, out.Failure)
}

const defaultLimit = 100

// Approvals lists approvals that the caller may see, the newest first: those that it requested and those that it may decide.
// Owners see all.
func (s *Service) Approvals(ctx context.Context, caller unit.Caller, f parley.ApprovalFilter) (list []parley.Approval, err error) {
	f.Limit = unit.Clamp(f.Limit, defaultLimit, 1000)
	if f.State != "" && !f.State.Known() {
		return nil, parley.Errorf(parley.BadInput, "%q is not a state of an approval", f.State).
			Suggest("use pending, approved, executed, denied, expired or withdrawn")
	}
	err = s.View(ctx, caller, unit.OpListApprovals, func(u *unit.Unit) error {
		if f.Agent, err = agents.Named(u, f.Agent); err == nil {
			u.SkipUnreadable(nil)
			list, err = approvals.List(u, f)
		}
		return err
	})
	return list, err
}

// Approval shows one approval.
func (s *Service) Approval(ctx context.Context, caller unit.Caller, id string) (a parley.Approval, err error) {
	if err := s.names.FindID(ctx, caller, unit.OpShowApproval, parley.NounApproval, &id); err != nil {
		return a, err
	}
	err = s.View(ctx, caller, unit.OpShowApproval, func(u *unit.Unit) error {
		a, err = approvals.Find(u, id)
		return err
	})
	return a, err
}

package decisions

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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
			u.LeaveOut(nil)
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

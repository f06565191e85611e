package decisions

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// maxToolUses is how many uses of tools one agent may wait for.
const maxToolUses = 16

// ruleToolUse is the rule of these approvals: the client of the agent asks, whatever the mode of the agent is.
const ruleToolUse = "client asks"

// endTime is how long the hub takes at most to end a request whose client has gone.
const endTime = 10 * time.Second

// RequestToolUse asks a person whether the caller's client may use a tool, and waits for the decision. It returns the approval:
// executed if the person has allowed the use, and else denied, expired or withdrawn. The approval lives no longer than the call: if
// the time is up it expires, and if the caller has gone it is withdrawn. Only agents call it, outside of runs.
func (s *Service) RequestToolUse(ctx context.Context, caller unit.Caller, use parley.ToolUse, wait time.Duration) (a parley.Approval, err error) {
	if use, err = use.Check(); err != nil {
		return a, err
	}
	raw, err := json.Marshal(use)
	if err != nil {
		return a, err
	}
	call, err := parley.HeldCall{Tool: policy.ToolUse, Args: raw}.Canonical()
	if err != nil {
		return a, err
	}
	err = s.Update(ctx, caller, unit.OpRequestToolUse, func(u *unit.Unit) (err error) {
		a, err = requestToolUse(u, caller, call, wait)
		return err
	})
	if err != nil {
		return a, err
	}
	return s.awaitDecision(ctx, caller, a, wait)
}

func requestToolUse(u *unit.Unit, caller unit.Caller, call parley.HeldCall, wait time.Duration) (a parley.Approval, err error) {
	if u.Me.Kind != parley.KindAgent || caller.Run != "" {
		return a, parley.Errorf(parley.BadInput, "only the client of an agent can ask for a tool, outside of the runs of the hub").
			Suggest("use the client's own dialog")
	}
	if wait <= 0 || wait > parley.MaxToolUseWait {
		return a, parley.Errorf(parley.BadInput, "the wait is %s", wait).Suggest("wait up to %s", parley.MaxToolUseWait)
	}
	open, err := u.Approvals().Pending(u.Me.ID)
	if err != nil {
		return a, err
	}
	uses := 0
	for _, other := range open {
		if other.Call.Tool == policy.ToolUse {
			uses++
		}
	}
	if uses >= maxToolUses {
		return a, parley.Errorf(parley.Unavailable, "%s already waits for %d uses of tools", u.Me.ID, uses).
			Retryable(0).Suggest("wait until some of them are decided")
	}
	rule := parley.Verdict{Allowed: true, RequiresApproval: true, RequiresHuman: true, Rule: ruleToolUse}
	return holding.RequestToolUse(u, caller, call, rule, u.Now.Add(wait))
}

// awaitDecision waits for the decision about an approval, and ends an approval that nobody has decided.
func (s *Service) awaitDecision(ctx context.Context, caller unit.Caller, a parley.Approval, wait time.Duration) (parley.Approval, error) {
	err := s.Await(ctx, a.ID, wait, func() (decided bool, err error) {
		err = s.View(ctx, caller, unit.OpRequestToolUse, func(u *unit.Unit) (err error) {
			a, err = approvals.Find(u, a.ID)
			return err
		})
		return err == nil && a.State != parley.ApprovalPending && a.State != parley.ApprovalApproved, err
	})
	if err == nil {
		return a, nil
	}
	end := parley.ApprovalWithdrawn
	if errors.Is(err, unit.ErrWaited) {
		end, err = parley.ApprovalExpired, nil
	}
	ended, failed := s.endToolUse(ctx, a.ID, end)
	return ended, errors.Join(err, failed)
}

// endToolUse ends an approval that is still pending. It returns the approval as it is then.
func (s *Service) endToolUse(ctx context.Context, id string, end parley.ApprovalState) (a parley.Approval, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime) // the caller may have gone
	defer cancel()
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		if a, err = u.Approvals().Get(id); err == nil && a.State == parley.ApprovalPending {
			err = work.SetApprovalState(u, &a, end, nil)
		}
		return err
	})
	return a, err
}

// toolUseWords returns what people read about the use of a tool.
func toolUseWords(_ *unit.Unit, _ string, use parley.ToolUse) (unit.CallWords, error) {
	return unit.CallWords{Wants: "use " + use.Tool, Doing: "using " + use.Tool, Action: policy.ToolUse, Parts: use.ApprovalParts()}, nil
}

// allowedUse is the result of an approved use. The hub does not make the call: the client does, if the decision reaches it.
const allowedUse = "Allowed. The hub does not learn whether the client used the tool."

// prepareToolUse returns the execution of an approved use: it reports the decision to the client, which makes the call.
func prepareToolUse(context.Context, unit.Caller, parley.ToolUse) (unit.Execution, error) {
	return func(*unit.Unit, parley.Approval) (unit.Result, error) { return unit.Result{Text: allowedUse}, nil }, nil
}

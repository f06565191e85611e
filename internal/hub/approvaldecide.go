package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

// Decide approves or denies a call. The first answer wins. An approved call is made in the same update, as the agent
// that wanted it, with the rights it has now; if it is refused then, that is what comes of it.
func (h *Hub) Decide(ctx context.Context, caller Caller, id string, d parley.Decision) (a parley.Approval, err error) {
	if err := d.Check(); err != nil {
		return a, err
	}
	if err := h.findID(ctx, caller, opDecideApproval, parley.NounApproval, &id); err != nil {
		return a, err
	}
	call, err := h.prepareCall(ctx, caller, id, d)
	if err != nil {
		return a, err
	}
	refused := false
	err = h.update(ctx, caller, opDecideApproval, func(s *scene) (err error) {
		a, refused, err = s.decide(caller, id, d, call)
		return err
	})
	failure := parley.AsError(err)
	if !refused || failure.Code == parley.Internal || failure.Reason == parley.StorageFull {
		return a, err
	}
	// Nothing of the call remains. What is left is to say why.
	err = h.update(ctx, caller, opDecideApproval, func(s *scene) (err error) {
		a, _, err = s.decide(caller, id, d, refusedWith(failure))
		return err
	})
	return a, err
}

// returned is what an approved call has returned.
type returned struct {
	text    string
	failure *parley.Error
	waits   bool // it is an ask: what it returns comes later
	refused bool // it was not made, and failure says why
}

// refusedWith is an execution of a call that is known to be refused.
func refusedWith(why *parley.Error) execution {
	return func(*scene, parley.Approval) (returned, error) { return returned{failure: why, refused: true}, nil }
}

// execution makes an approved call, as its agent.
type execution func(*scene, parley.Approval) (returned, error)

// prepareCall reads what was asked for, and does what must be done outside of an update to make it.
func (h *Hub) prepareCall(ctx context.Context, caller Caller, id string, d parley.Decision) (execution, error) {
	var a parley.Approval
	err := h.view(ctx, caller, opDecideApproval, func(s *scene) (err error) {
		a, err = s.decidable(id)
		return err
	})
	if err != nil || !d.Approve {
		return nil, err
	}
	tool, known := h.hooks.tools[a.Call.Tool]
	if !known {
		return nil, parley.Errorf(parley.Internal, "nobody knows how to call %s", a.Call.Tool)
	}
	as := Caller{Agent: a.Agent, Source: a.Source, Approved: true}
	call, err := tool.prepare(ctx, as, a.Call.Args)
	if err != nil {
		return refusedWith(parley.AsError(err)), nil
	}
	return call, nil
}

// decidable finds an approval that waits for a decision which is the caller's.
func (s *scene) decidable(id string) (parley.Approval, error) {
	a, err := s.approval(id)
	if err == nil {
		err = s.mayDecide(a)
	}
	if err == nil && a.State != parley.ApprovalPending {
		err = decidedAlready(a)
	}
	return a, err
}

// mayDecide refuses who wants the call itself, who is not its manager, and an agent where a person must decide.
func (s *scene) mayDecide(a parley.Approval) error {
	if a.Agent == s.me.ID {
		return parley.Errorf(parley.NotPermitted, "%s cannot decide on its own call", s.me.ID).Suggest("wait: whoever decides has been asked")
	}
	if s.owner() {
		return nil
	}
	manages, err := s.manages(a.Agent)
	switch {
	case err != nil:
		return err
	case !manages:
		return parley.Errorf(parley.NotPermitted, "%s does not decide for %s", s.me.ID, a.Agent).Suggest("its manager does, and owners do")
	case a.RequiresHuman && s.me.Kind != parley.KindHuman:
		return parley.Errorf(parley.NotPermitted, "only a person may decide on %s", a.ShortName()).Suggest("an owner has been asked")
	}
	return nil
}

func decidedAlready(a parley.Approval) error {
	what := fmt.Sprintf("%s is %s", a.ShortName(), a.State)
	if a.DecidedBy != "" {
		word := "denied"
		if a.State != parley.ApprovalDenied {
			word = "approved"
		}
		what = fmt.Sprintf("%s was %s by %s at %s", a.ShortName(), word, a.DecidedBy, a.DecidedAt.Format(time.RFC3339))
	}
	if a.Refused() {
		what += ", and the call was refused: " + a.Failure.Message
	}
	return parley.Errorf(parley.BadInput, "%s", what).Because(parley.Conflict).Suggest("the first answer stands")
}

// decide writes a decision down, makes the call if it is approved, and tells its caller. refused says that it was the
// call that failed.
func (s *scene) decide(caller Caller, id string, d parley.Decision, call execution) (a parley.Approval, refused bool, err error) {
	if a, err = s.decidable(id); err != nil {
		return a, false, err
	}
	to := parley.ApprovalDenied
	if d.Approve {
		to = parley.ApprovalApproved
	}
	err = s.stepApproval(&a, to, func(a *parley.Approval) { a.DecidedBy, a.DecidedAt, a.Note = s.me.ID, &s.now, d.Note })
	if err != nil {
		return a, false, err
	}
	err = s.audit("approval."+string(to), a.ID, map[string]any{
		"agent": a.Agent, "target": a.Target, "tool": a.Call.Tool, "digest": a.Digest, "note": d.Note, "by": caller.By, "source": caller.Source,
	})
	switch {
	case err != nil:
		return a, false, err
	case d.Approve:
		return s.execute(a, call)
	default:
		return a, false, s.tellDenied(&a)
	}
}

// execute makes an approved call in the name of its agent. What it returns is told at once, but for an ask's.
func (s *scene) execute(a parley.Approval, call execution) (after parley.Approval, refused bool, err error) {
	agent, err := s.Agents().Find(a.Agent)
	if err != nil {
		return a, false, err
	}
	out, err := call(s.As(agent), a)
	if err != nil {
		s.endAs(agent) // it is the agent's call that was refused
		return a, true, err
	}
	now, err := s.Approvals().Get(a.ID)
	if err != nil {
		return a, false, err
	}
	if a.Task = now.Task; out.waits { // which the call may have been given
		return a, false, nil
	}
	if out.refused {
		return a, false, s.tellRefused(&a, out.failure)
	}
	return a, false, s.tellExecuted(&a, out.text, out.failure)
}

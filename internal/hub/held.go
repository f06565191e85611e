package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

// The tools whose calls may be held, by the names agents know them by. Other doors do the same by other names.
const (
	toolContact = parley.ContactTool
	toolPost    = "send_channel_message"
	toolReply   = "reply"
	toolTask    = "update_task"
	toolNewTask = "new_task"
	toolRead    = "read_conversation"
	toolMessage = "read_message"
	toolQuery   = "query_workspace"

	toolMakeConversation = "make_conversation"
	toolConversation     = "update_conversation"
)

// heldBy says that a call needs an approval first, and why. It ends the update of the call, so that nothing of it
// remains; then Hub.heldOr stores the call.
type heldBy struct {
	verdict parley.Verdict
	target  string        // whom the call contacts, if it is one in particular
	draft   *parley.Draft // of a post: where it goes by ids, which nobody changes while it waits
}

func (heldBy) Error() string { return parley.HeldText }

// heldOr stores a call whose update ended with heldBy, and returns a *parley.Held. Any other error is returned as
// it is. args are the call's arguments, as the table in heldcalls.go reads them again.
func (h *Hub) heldOr(ctx context.Context, caller Caller, err error, tool string, args any) error {
	why, held := errors.AsType[heldBy](err)
	if !held {
		return err
	}
	if why.draft != nil {
		args = *why.draft
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return h.hold(ctx, caller, parley.HeldCall{Tool: tool, Args: raw}, why.target, why.verdict)
}

// heldTarget is the id of whom a held call contacts, where the call names one in particular: a name may be another's by
// the time the call is made.
func heldTarget(err error, name string) string {
	if why, held := errors.AsType[heldBy](err); held && why.target != "" {
		return why.target
	}
	return name
}

// postTool is the tool that a draft is posted with.
func postTool(d parley.Draft) string {
	if d.InReplyTo != "" {
		return toolReply
	}
	return toolPost
}

// pendingApproval puts down the oldest approval an agent waits for, if there is one.
func (s *scene) pendingApproval(agent string, waits *parley.Awaiting) error {
	list, err := s.Approvals().Pending(agent)
	if err == nil && len(list) > 0 {
		waits.ApprovalID, waits.Number = list[0].ID, list[0].Number
	}
	return err
}

package policy

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// The tools whose calls may be held, by the names agents know them by. Other doors do the same by other names.
const (
	ToolContact = parley.ContactTool
	ToolPost    = "send_channel_message"
	ToolReply   = "reply"
	ToolTask    = "update_task"
	ToolNewTask = "new_task"
	ToolRead    = "read_conversation"
	ToolMessage = "read_message"
	ToolQuery   = "query_workspace"

	ToolMakeConversation = "make_conversation"
	ToolConversation     = "update_conversation"
)

// HeldTarget is the id of whom a held call contacts, where the call names one in particular: a name may be another's by
// the time the call is made.
func HeldTarget(err error, name string) string {
	if why, held := errors.AsType[unit.HeldBy](err); held && why.Target != "" {
		return why.Target
	}
	return name
}

// PostTool is the tool that a draft is posted with.
func PostTool(d parley.Draft) string {
	if d.InReplyTo != "" {
		return ToolReply
	}
	return ToolPost
}

// PendingApproval puts down the oldest approval an agent waits for, if there is one.
func PendingApproval(u *unit.Unit, agent string, waits *parley.Awaiting) error {
	list, err := u.Approvals().Pending(agent)
	if err == nil && len(list) > 0 {
		waits.ApprovalID, waits.Number = list[0].ID, list[0].Number
	}
	return err
}

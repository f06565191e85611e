package approvals

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// NoteApproval tells those who follow where an approval stands: owners, and the agent itself. Whether that waits has
// changed with it.
func NoteApproval(u *unit.Unit, a parley.Approval) error {
	data, err := json.Marshal(struct {
		Approval string               `json:"approval"`
		Number   int64                `json:"number,omitempty"`
		State    parley.ApprovalState `json:"state"`
		Target   string               `json:"target,omitempty"`
		Tool     string               `json:"tool"`
		Decider  string               `json:"decider,omitempty"`
		By       string               `json:"decided_by,omitempty"`
		Failure  *parley.Error        `json:"failure,omitempty"`
	}{a.ID, a.Number, a.State, a.Target, a.Call.Tool, a.Decider, a.DecidedBy, a.Failure})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventApproval(a.State), Agent: a.Agent, Data: data})
	live, err := u.Runs().Live(a.Agent)
	if err != nil || len(live) > 0 || a.State == parley.ApprovalApproved {
		return err
	}
	agent, err := u.Agents().Find(a.Agent)
	if err != nil || agent.RemovedAt != nil {
		return err
	}
	return presence.NotePresenceOf(u, agent, 0)
}

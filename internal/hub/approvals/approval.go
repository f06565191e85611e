package approvals

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const RemindMost = 24 * time.Hour

const MaxPending = 256 // approvals one participant may wait for

const LookedBack = 200 // of its approvals, for one that an earlier attempt of a run has asked for

const SourceHolds = "approval"

const MostRequests = 10_000 // that may lie in an inbox for one agent, reminders among them

func SetTimes(u *unit.Unit, a *parley.Approval) {
	if times := u.Core.Config.Approvals; times.Expire > 0 {
		a.ExpiresAt = unit.After(u.Now, times.Expire)
	}
	if remind := u.Core.Config.Approvals.Remind; remind > 0 {
		a.RemindAt = unit.After(u.Now, remind)
	}
}

// Decider is who is asked: the agent's manager, or nobody in particular, which are the owners. Where a person must
// decide, a manager that is an agent is not asked.
func Decider(u *unit.Unit, a parley.Approval) (string, error) {
	agent, err := u.Agents().Find(a.Agent)
	if err != nil || agent.Manager == "" {
		return "", err
	}
	manager, err := u.Agents().Find(agent.Manager)
	if err != nil || manager.RemovedAt != nil || a.RequiresHuman && manager.Kind != parley.KindHuman {
		return "", err
	}
	return manager.ID, nil
}

// Deciders are the decider, or else the owners.
func Deciders(u *unit.Unit, a parley.Approval) (list []parley.Agent, err error) {
	if a.Decider != "" {
		decider, err := u.Agents().Find(a.Decider)
		return []parley.Agent{decider}, err
	}
	all, err := u.Agents().List()
	return slices.DeleteFunc(all, func(who parley.Agent) bool {
		return who.RemovedAt != nil || who.Kind != parley.KindHuman || who.Access != parley.AccessOwner || who.ID == a.Agent
	}), err
}

// ApprovalRequest is what a request for an approval has beside its text.
type ApprovalRequest struct {
	Approval string `json:"approval"`
	Agent    string `json:"agent"`
	Digest   string `json:"digest"`
}

func ListApprovals(u *unit.Unit, f parley.ApprovalFilter) ([]parley.Approval, error) {
	if u.SeesAll() {
		return u.Approvals().List(f, "", true)
	}
	list, err := u.Approvals().List(f, u.Me.ID, false)
	if err != nil || f.Mine || f.Agent != "" && f.Agent != u.Me.ID {
		return list, err
	}
	f.Agent = u.Me.ID
	own, err := u.Approvals().List(f, "", true)
	list = append(list, own...)
	slices.SortFunc(list, func(a, b parley.Approval) int { return strings.Compare(b.ID, a.ID) })
	list = slices.CompactFunc(list, func(a, b parley.Approval) bool { return a.ID == b.ID })
	return list[:min(len(list), f.Limit)], err
}

// Approval finds one the caller may see: of its own calls, or of those who report to it. Owners see all.
func Approval(u *unit.Unit, id string) (parley.Approval, error) {
	a, err := u.Approvals().Get(id)
	if errors.Is(err, parley.ErrNotFound) {
		return a, unit.Unknown{Noun: "approval", Name: id}
	}
	if err != nil || u.SeesAll() || a.Agent == u.Me.ID || a.Decider == u.Me.ID {
		return a, err
	}
	manages, err := agents.Manages(u, a.Agent)
	if err == nil && !manages {
		err = unit.Unknown{Noun: "approval", Name: id}
	}
	return a, err
}

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

// Package approvals holds the rows of approvals, their deciders and their text.
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
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new approval.
func InsertRow(tx storage.Tx, a parley.Approval) error {
	return tx.Approvals().Insert(a)
}

// Save stores a changed approval.
func Save(tx storage.Tx, a parley.Approval) error {
	return tx.Approvals().Put(a)
}

// MaxReminderPause is the longest time between two reminders.
const MaxReminderPause = 24 * time.Hour

// MaxPending is how many approvals one participant may wait for.
const MaxPending = 256

// MaxSearched is how many approvals of an agent the hub searches for one that an earlier attempt of a run asked for.
const MaxSearched = 200

// SourceApproval is the source of the messages about approvals.
const SourceApproval = "approval"

// MaxRequests is how many requests about one agent, reminders included, may lie in an inbox.
const MaxRequests = 10_000

// SetTimes sets when an approval expires and when its first reminder is due, by the configuration.
func SetTimes(u *unit.Unit, a *parley.Approval) {
	if times := u.Core.Config.Approvals; times.Expire > 0 {
		a.ExpiresAt = unit.After(u.Now, times.Expire)
	}
	if remind := u.Core.Config.Approvals.Remind; remind > 0 {
		a.RemindAt = unit.After(u.Now, remind)
	}
}

// FindDecider returns the manager of the agent, or nothing if the owners decide. They decide if there is no manager, if the manager was
// removed, and if a person must decide and the manager is an agent.
func FindDecider(u *unit.Unit, a parley.Approval) (string, error) {
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

// FindDeciders returns the participants that are asked for an approval: the decider, or else the owners.
func FindDeciders(u *unit.Unit, a parley.Approval) (list []parley.Agent, err error) {
	if a.Decider != "" {
		decider, err := u.Agents().Find(a.Decider)
		return []parley.Agent{decider}, err
	}
	all, err := u.Agents().List()
	return slices.DeleteFunc(all, func(decider parley.Agent) bool {
		return decider.RemovedAt != nil || decider.Kind != parley.KindHuman || decider.Access != parley.AccessOwner || decider.ID == a.Agent
	}), err
}

// Request is the payload of the message that asks for an approval.
type Request struct {
	Approval string `json:"approval"`
	Name     string `json:"name"` // its short name
	Agent    string `json:"agent"`
	Digest   string `json:"digest"`
}

// List returns the approvals that the caller may see, the newest first.
func List(u *unit.Unit, f parley.ApprovalFilter) ([]parley.Approval, error) {
	if u.SeesAll() {
		return u.Approvals().List(f, "", true)
	}
	list, err := u.Approvals().List(f, u.Me.ID, false)
	if err != nil || f.Mine || f.Agent != "" && f.Agent != u.Me.ID {
		return list, err
	}
	f.Agent = u.Me.ID
	requested, err := u.Approvals().List(f, "", true)
	list = append(list, requested...)
	slices.SortFunc(list, func(a, b parley.Approval) int { return strings.Compare(b.ID, a.ID) })
	list = slices.CompactFunc(list, func(a, b parley.Approval) bool { return a.ID == b.ID })
	return list[:min(len(list), f.Limit)], err
}

// Find returns an approval that the caller may see: of its own calls, of calls it decides on, or of its reports. Owners see all.
// Any other is unknown.
func Find(u *unit.Unit, id string) (parley.Approval, error) {
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

// CheckMayDecide returns E001 for the requester itself, for a caller that does not manage it, and for an agent if a person must
// decide.
func CheckMayDecide(u *unit.Unit, a parley.Approval) error {
	if a.Agent == u.Me.ID {
		return parley.Errorf(parley.NotPermitted, "%s cannot decide its own call", u.Me.ID).Suggest("wait: the hub has asked the approver")
	}
	if u.Owner() {
		return nil
	}
	manages, err := agents.Manages(u, a.Agent)
	switch {
	case err != nil:
		return err
	case !manages:
		return parley.Errorf(parley.NotPermitted, "%s cannot decide calls of %s", u.Me.ID, a.Agent).Suggest("ask the manager of %s, or an owner of this hub, to decide", a.Agent)
	case a.RequiresHuman && u.Me.Kind != parley.KindHuman:
		return parley.Errorf(parley.NotPermitted, "only a person may decide %s", a.ShortName()).Suggest("wait: the hub has asked an owner")
	}
	return nil
}

// Note writes an event with the state of an approval, for the owners and the agent. The presence of the agent may have changed
// with it.
func Note(u *unit.Unit, a parley.Approval) error {
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

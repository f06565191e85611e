// Package runs holds the rows of runs, each step of their state, and what live runs say.
package runs

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// Background returns the work of this package: writing events about the progress of live runs.
func Background(s *Service) []unit.Background { return []unit.Background{s.showProgress} }

// New returns the use cases of this package on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// The rows of this package are written here and nowhere else.

// InsertRow stores a new run.
func InsertRow(tx storage.Tx, r parley.Run) error {
	return tx.Runs().Insert(r)
}

// SaveOutput stores the output of a run.
func SaveOutput(tx storage.Tx, id string, output []byte) error {
	return tx.Runs().PutOutput(id, output)
}

// NotePost stores that a run posted a message.
func NotePost(tx storage.Tx, id string, p storage.RunPost) error {
	return tx.Runs().AddPost(id, p)
}

// SetState takes a run to another state and notes the event. No other function changes the state of a run. edit sets other
// fields with the state.
func SetState(u *unit.Unit, r *parley.Run, to parley.RunState, edit func(*parley.Run)) error {
	if !r.State.May(to) {
		return parley.Errorf(parley.BadInput, "run %s is %s and cannot become %s", r.ID, r.State, to).
			Because(parley.Conflict).Suggest("see its state: parley agent run %s", r.ShortName())
	}
	after := *r
	after.State = to
	switch {
	case !to.Live():
		after.EndedAt = &u.Now
	case after.StartedAt == nil:
		after.StartedAt = &u.Now
	}
	if edit != nil {
		edit(&after)
	}
	if err := Save(u, r, after); err != nil {
		return err
	}
	return NoteRun(u, after)
}

// Save stores a changed run.
func Save(u *unit.Unit, r *parley.Run, after parley.Run) error {
	err := u.Runs().Put(after)
	if err == nil {
		*r = after
	}
	return err
}

// SetProcess stores the process of a run, or that the run has none.
func SetProcess(u *unit.Unit, r *parley.Run, p parley.Process) error {
	after := *r
	after.Process = p
	return Save(u, r, after)
}

// NoteRun notes an event about the state of a run, for owners and the agent. It also notes a sign of the agent, unless the
// run is lost.
func NoteRun(u *unit.Unit, r parley.Run) error {
	data, err := json.Marshal(struct {
		Run          string          `json:"run"`
		Number       int64           `json:"number,omitempty"`
		State        parley.RunState `json:"state"`
		Conversation string          `json:"conversation"`
		Runtime      string          `json:"runtime"`
		Attempt      int             `json:"attempt"`
		Answer       string          `json:"answer,omitempty"`
		Cancel       string          `json:"cancel,omitempty"`
		Failure      *parley.Error   `json:"failure,omitempty"`
	}{r.ID, r.Number, r.State, r.Conversation, r.Runtime, r.Attempt, r.Answer, r.Cancel, r.Failure})
	u.Note(parley.Event{Kind: parley.EventRun(r.State), Agent: r.Agent, Data: data})
	if r.State != parley.RunLost {
		u.Core.Attendance.Glimpsed(r.Agent, u.Now)
	}
	return err
}

// Begin takes a run from starting to running, and its triggers from delivered to seen.
func Begin(u *unit.Unit, r *parley.Run, p parley.Process) error {
	if err := SetState(u, r, parley.RunRunning, func(r *parley.Run) { r.Process = p }); err != nil {
		return err
	}
	list, err := u.Queue().Leased(r.ID)
	for i := range list {
		if err == nil && list[i].State == parley.DeliveryDelivered {
			err = deliveries.SetState(u, &list[i], parley.DeliverySeen, nil)
		}
	}
	return err
}

// Cancel marks a run as cancelled and wakes its dispatcher, which ends the run.
func Cancel(u *unit.Unit, r *parley.Run, reason string) error {
	after := *r
	after.Cancel = reason
	if err := Save(u, r, after); err != nil {
		return err
	}
	u.Wake(r.Agent)
	return NoteRun(u, *r)
}

// SeeQuiet marks deliveries that do not wake the agent as seen if a run's context includes them.
func SeeQuiet(u *unit.Unit, r parley.Run, from, upTo int64) error {
	if upTo == 0 {
		return nil
	}
	list, err := u.Deliveries().Between(r.Conversation, r.Agent, from-1, upTo, deliveries.MaxTaken)
	for i := range list {
		if err == nil && list[i].Ready() && !list[i].Waking {
			err = deliveries.SetState(u, &list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = r.ID })
		}
	}
	return err
}

// EraseToken erases the token of a run. It keeps the token of a webhook that answered, so that a repeated answer gets its
// receipt.
func EraseToken(u *unit.Unit, r parley.Run) error {
	if r.Runtime == parley.RuntimeWebhook {
		t, err := u.Tokens().Get(r.ID)
		if err != nil || access.KeptReply(t) {
			return unit.IgnoreNotFound(err)
		}
	}
	return unit.IgnoreNotFound(access.EraseToken(u.Tx, r.ID))
}

// Run finds a run that the caller may see. It returns unit.Unknown if there is none.
func Run(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) || err == nil && r.Agent != u.Me.ID && !u.SeesAll() {
		return parley.Run{}, unit.Unknown{Noun: "run", Name: id}
	}
	return r, err
}

// ManagedRun finds a run that the caller may cancel. It returns unit.Unknown if there is none.
func ManagedRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) {
		return r, unit.Unknown{Noun: "run", Name: id}
	}
	if err != nil {
		return r, err
	}
	a, err := u.Agents().Find(r.Agent)
	if err == nil && a.Manager == u.Me.ID {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return Run(u, id)
}

// OwnRun finds a live run of the caller. It returns E003 if the run has ended, and E001 if it is another agent's.
func OwnRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := LiveRun(u, id)
	if err == nil && r.Agent != u.Me.ID {
		err = parley.Errorf(parley.NotPermitted, "run %s does not belong to %s", r.ID, u.Me.ID).Suggest("use the token of the run")
	}
	return r, err
}

// LiveRun finds a run that has not ended. It returns RunEndedError if it has ended or does not exist.
func LiveRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !r.State.Live() {
		return r, RunEndedError(id)
	}
	return r, err
}

// RunEndedError returns the error for a run that has ended.
func RunEndedError(id string) error {
	return parley.Errorf(parley.BadInput, "the run %s has ended", id).Because(parley.Conflict).
		Suggest("see how it ended: parley agent run %s", id)
}

// RunOf returns the live run that has a delivery, and whether there is one.
func RunOf(u *unit.Unit, d parley.Delivery) (r parley.Run, has bool, err error) {
	if d.Lease == "" || d.Lease != d.Run {
		return r, false, nil
	}
	return Lives(u, d.Run)
}

// Lives returns the run with an id, and whether it exists and has not ended.
func Lives(u *unit.Unit, run string) (r parley.Run, lives bool, err error) {
	r, err = u.Runs().Get(run)
	if errors.Is(err, parley.ErrNotFound) {
		return r, false, nil
	}
	return r, err == nil && r.State.Live(), err
}

// WhoseRuns returns the id of the agent whose runs the caller lists, or "" for those of all. The agent may have been
// removed.
func WhoseRuns(u *unit.Unit, name string) (string, error) {
	if name == "" {
		if u.SeesAll() {
			return "", nil
		}
		return u.Me.ID, nil
	}
	a, err := agents.FindAgent(u, name)
	if errors.Is(err, parley.ErrNotFound) {
		return "", unit.Unknown{Noun: "agent", Name: name}
	}
	if err == nil && a.ID != u.Me.ID {
		err = u.MustOwn("see the runs of others")
	}
	return a.ID, err
}

// StopOf returns the beginning of the cancel reason when a stop of the agent cancels a run. The reason of a person begins
// with "by".
func StopOf(agent string) string { return agent + " was stopped" }

// StoppedWith reports whether a run was cancelled because its agent was stopped. The asks of such a run go on, because the
// agent continues with its queue when it is started again.
func StoppedWith(r parley.Run) bool { return strings.HasPrefix(r.Cancel, StopOf(r.Agent)) }

// CancelledError returns the error of a delivery whose run was cancelled.
func CancelledError(r parley.Run) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s%sthe run was cancelled: %s", r.Agent, deliveries.DidNot, r.Cancel).
		Suggest("send the message again if you still need it")
}

// WhyStopped is the reason of an ask that ends because its recipient was stopped.
const WhyStopped = "stopped"

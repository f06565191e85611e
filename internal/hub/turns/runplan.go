package turns

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// planRun returns the run that messages wake, before it is stored.
func planRun(u *unit.Unit, a *runs.Assignment, plan plannedRun) (parley.Run, error) {
	newest := a.Messages[len(a.Messages)-1]
	r := parley.Run{
		ID: unit.NewID(), Agent: a.Agent.ID, Conversation: newest.Conversation, Runtime: a.Agent.Runtime, State: parley.RunStarting,
		TraceID: newest.TraceID, CreatedAt: u.Now, Deadline: u.Now.Add(plan.Deadline), Node: plan.node,
	}
	if plan.Instant {
		r.State, r.StartedAt = parley.RunRunning, &u.Now
	}
	for i, m := range a.Messages {
		r.Triggers = append(r.Triggers, m.ID)
		r.Task = max(r.Task, m.Task)
		r.Hops = max(r.Hops, m.Hops)
		r.Attempt = max(r.Attempt, a.Deliveries[i].Attempt+1)
		chain, err := runs.Chain(u, m)
		if err != nil {
			return r, err
		}
		r.Chain = max(r.Chain, chain)
	}
	if a.Deliveries[0].Purpose == parley.PurposeAsk {
		return r, planAskRun(u, &r, a.Deliveries[0])
	}
	if err := work.EnterTask(u, &r, a.Deliveries[0]); err != nil {
		return r, err
	}
	earlier, err := resumedRun(u, r)
	if earlier != nil {
		r.Session = earlier.Session
	}
	return r, err
}

// planAskRun makes a planned run answer an ask. If an earlier run of the ask was stopped, the new run continues the task that
// the ask has become.
func planAskRun(u *unit.Unit, r *parley.Run, d parley.Delivery) error {
	w, err := u.Waits().Ask(d.Message)
	if unit.IgnoreNotFound(err) != nil {
		return err
	}
	r.Ask, r.Depth, r.Task = true, w.Depth+1, w.AnswerTask
	if _, found, err := work.FindOpenTask(u, *r); err != nil || found {
		return err
	}
	r.Task = ""
	return nil
}

// resumedRun returns the run whose client session the run r resumes: the last run of r's task, or else of its conversation. It
// returns nil if there is none, if r answers an ask, or if the session belongs to another runtime.
func resumedRun(u *unit.Unit, r parley.Run) (earlier *parley.Run, err error) {
	var run parley.Run
	switch {
	case r.Ask:
		return nil, nil
	case r.Task != "":
		run, err = u.Runs().TaskSession(r.Agent, r.Task)
	default:
		run, err = u.Runs().Session(r.Agent, r.Conversation, r.CreatedAt.Add(-sessionIdle))
	}
	if errors.Is(err, parley.ErrNotFound) || err == nil && run.Runtime != r.Runtime {
		return nil, nil
	}
	return &run, err
}

// storeAssignment stores a run, leases its triggers to it, and makes its token.
func storeAssignment(u *unit.Unit, a *runs.Assignment, idle bool, plan plannedRun) error {
	var err error
	if a.Run.Number, err = u.Runs().NextNumber(); err != nil {
		return err
	}
	r := a.Run
	if err := runs.InsertRow(u.Tx, r); err != nil {
		return err
	}
	if err := runs.NoteRun(u, r); err != nil {
		return err
	}
	now, err := u.Queue().Now()
	if err != nil {
		return err
	}
	to, begun := parley.DeliveryDelivered, r.State == parley.RunRunning
	if begun {
		to = parley.DeliverySeen
	}
	for i := range a.Deliveries {
		err := deliveries.SetState(u, &a.Deliveries[i], to, func(d *parley.Delivery) {
			d.Run, d.Lease, d.Until = r.ID, r.ID, now.After(runs.RunLease)
		})
		if err != nil {
			return err
		}
	}
	if begun {
		if err := markQuietSeen(u, a.Agent, r); err != nil {
			return err
		}
	}
	if err := insertRunToken(u, r, plan); err != nil || !idle {
		return err
	}
	return presence.NotePresenceOf(u, a.Agent, 1)
}

// markQuietSeen marks quiet deliveries as seen for a run whose context is read at once. Like runs.SeeQuiet.
func markQuietSeen(u *unit.Unit, a parley.Agent, r parley.Run) error {
	quiet, err := u.Queue().Ready(storage.QueueFilter{Recipient: r.Agent, In: r.Conversation, Limit: 1})
	if err != nil || len(quiet) == 0 {
		return err
	}
	page, err := u.Messages().Page(r.Conversation, parley.Page{Limit: a.ContextMessages})
	if err != nil || len(page) == 0 {
		return err
	}
	return runs.SeeQuiet(u, r, page[0].Seq, page[len(page)-1].Seq)
}

// insertRunToken makes the token of a run that needs one. The token has the id of the run. It needs no event and no audit
// entry, because the run has both.
func insertRunToken(u *unit.Unit, r parley.Run, plan plannedRun) error {
	if plan.Token == "" {
		return nil
	}
	hash, ok := parley.HashSecret(plan.secret)
	if !ok {
		return errors.New("the hub made a malformed secret")
	}
	return access.InsertToken(u.Tx, parley.Token{
		ID: r.ID, Agent: r.Agent, Kind: plan.Token, Scopes: runs.RunScopes(plan.Token), CreatedBy: u.Me.ID, CreatedAt: u.Now,
		ExpiresAt: unit.After(r.Deadline, runs.RunGrace),
	}, hash)
}

package hub

import (
	"errors"

	"github.com/parley-hub/parley"
)

// plan is the run that some messages wake.
func (s *scene) plan(a *Assignment, plan planned) (parley.Run, error) {
	newest := a.Messages[len(a.Messages)-1]
	r := parley.Run{
		ID: newID(), Agent: a.Agent.ID, Conversation: newest.Conversation, Runtime: a.Agent.Runtime, State: parley.RunStarting,
		TraceID: newest.TraceID, CreatedAt: s.now, Deadline: s.now.Add(plan.Deadline), Node: plan.node,
	}
	if plan.Instant {
		r.State, r.StartedAt = parley.RunRunning, &s.now
	}
	for i, m := range a.Messages {
		r.Triggers = append(r.Triggers, m.ID)
		r.Task = max(r.Task, m.Task)
		r.Hops = max(r.Hops, m.Hops)
		r.Attempt = max(r.Attempt, a.Deliveries[i].Attempt+1)
		chain, err := s.chain(m)
		if err != nil {
			return r, err
		}
		r.Chain = max(r.Chain, chain)
	}
	if a.Deliveries[0].Purpose == parley.PurposeAsk {
		return r, s.planAnswer(&r, a.Deliveries[0])
	}
	if err := s.enterTask(&r, a.Deliveries[0]); err != nil {
		return r, err
	}
	before, err := s.resumes(r)
	if before != nil {
		r.Session = before.Session
	}
	return r, err
}

// planAnswer makes a run that is planned one that answers an ask. Where one before it was stopped, it goes on with the
// task that the ask has become.
func (s *scene) planAnswer(r *parley.Run, d parley.Delivery) error {
	w, err := s.Waits().Ask(d.Message)
	if ignoreNotFound(err) != nil {
		return err
	}
	r.Ask, r.Depth, r.Task = true, w.Depth+1, w.Work
	if _, mine, err := s.taskAt(*r); err != nil || mine {
		return err
	}
	r.Task = ""
	return nil
}

// chain is how many automatic messages in a row have led to one.
func (s *scene) chain(m parley.Message) (int, error) {
	by, err := s.Runs().PostedBy(m.ID)
	switch {
	case err == nil:
		return by.Chain + 1, nil
	case errors.Is(err, parley.ErrNotFound):
		return m.Hops, nil // a person's has none
	default:
		return 0, err
	}
}

// resumes is the run whose client's session another goes on with, or nil: that of its task, or else of its
// conversation. An ask is answered in a fresh one. A session belongs to the runtime that opened it.
func (s *scene) resumes(r parley.Run) (before *parley.Run, err error) {
	var run parley.Run
	switch {
	case r.Ask:
		return nil, nil
	case r.Task != "":
		run, err = s.Runs().TaskSession(r.Agent, r.Task)
	default:
		run, err = s.Runs().Session(r.Agent, r.Conversation, r.CreatedAt.Add(-sessionIdle))
	}
	if errors.Is(err, parley.ErrNotFound) || err == nil && run.Runtime != r.Runtime {
		return nil, nil
	}
	return &run, err
}

// assign stores a run, leases to it what woke it, and makes its token.
func (s *scene) assign(a *Assignment, idle bool, plan planned) error {
	var err error
	if a.Run.Number, err = s.Runs().NextNumber(); err != nil {
		return err
	}
	r := a.Run
	if err := s.Runs().Insert(r); err != nil {
		return err
	}
	if err := s.noteRun(r); err != nil {
		return err
	}
	now, err := s.Queue().Now()
	if err != nil {
		return err
	}
	to, begun := parley.DeliveryDelivered, r.State == parley.RunRunning
	if begun {
		to = parley.DeliverySeen
	}
	for i := range a.Deliveries {
		err := s.move(&a.Deliveries[i], to, func(d *parley.Delivery) {
			d.Run, d.Lease, d.Until = r.ID, r.ID, now.After(runLease)
		})
		if err != nil {
			return err
		}
	}
	if begun {
		if err := s.seeQuietNow(a.Agent, r); err != nil {
			return err
		}
	}
	if err := s.insertRunToken(r, plan); err != nil || !idle {
		return err
	}
	return s.notePresenceOf(a.Agent, 1)
}

// seeQuietNow is seeQuiet for a run whose context is read at once.
func (s *scene) seeQuietNow(a parley.Agent, r parley.Run) error {
	quiet, err := s.Queue().Ready(parley.Queue{Recipient: r.Agent, In: r.Conversation, Limit: 1})
	if err != nil || len(quiet) == 0 {
		return err
	}
	page, err := s.Messages().Page(r.Conversation, parley.Page{Limit: a.ContextMessages})
	if err != nil || len(page) == 0 {
		return err
	}
	return s.seeQuiet(r, page[0].Seq, page[len(page)-1].Seq)
}

// insertRunToken makes the token of a run that needs one, whose id is the run's. It is neither told nor audited: the
// run is.
func (s *scene) insertRunToken(r parley.Run, plan planned) error {
	if plan.Token == "" {
		return nil
	}
	hash, ok := parley.HashSecret(plan.secret)
	if !ok {
		return errors.New("a secret of a wrong form was made")
	}
	return s.Tokens().Insert(parley.Token{
		ID: r.ID, Agent: r.Agent, Kind: plan.Token, Scopes: runScopes(plan.Token), CreatedBy: s.me.ID, CreatedAt: s.now,
		ExpiresAt: after(r.Deadline, runGrace),
	}, hash)
}

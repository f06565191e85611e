package hub

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// RunOptions are what a dispatcher says of the runs it starts.
type RunOptions struct {
	Node string                     // this process of the hub
	Plan func(parley.Agent) RunPlan // of a run of an agent; may be called for one that does not start

	AsksOnly bool // there is no room but for what answers an ask
}

// RunPlan is what is known of a run before it starts.
type RunPlan struct {
	Deadline time.Duration    // how long it may last; default: half an hour
	Token    parley.TokenKind // of the credential that its processes get; none: it has no process, and needs none
	Instant  bool             // it starts at once: running, and its triggers seen, with the same update, without BeginRun
}

func (o RunOptions) plan(a parley.Agent) RunPlan {
	p := RunPlan{Token: parley.TokenRun}
	if o.Plan != nil {
		p = o.Plan(a)
	}
	setDefault(&p.Deadline, defaultDeadline)
	return p
}

// Assignment is a run that was given to a dispatcher, with what it needs to start it.
type Assignment struct {
	Run        parley.Run
	Agent      parley.Agent
	Token      string            // the secret of the run's token, good while it lives; none: its plan wants none
	Kind       parley.TokenKind  // of the token
	Messages   []parley.Message  // the triggers, by seq
	Deliveries []parley.Delivery // of each
}

const (
	defaultDeadline = 30 * time.Minute
	// runLease is how long what woke a run is leased to it each time the run is kept.
	runLease = time.Minute
	// runGrace is what a run gets after its deadline to end, and to say so.
	runGrace  = time.Minute
	sourceRun = "run"
)

// runScopes are what the token of a run may be used for at most.
func runScopes(k parley.TokenKind) parley.Scopes {
	switch k {
	case parley.TokenReply:
		return parley.Scopes{parley.ScopeSend}
	case parley.TokenBearer:
		return parley.Scopes{parley.ScopeRead, parley.ScopeSend}
	default:
		return parley.Scopes{parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide}
	}
}

// Caller is the run as its runtime calls the hub, within the hub's own process.
func (a Assignment) Caller() Caller {
	until := a.Run.Deadline.Add(runGrace)
	c := Caller{Agent: a.Run.Agent, Source: sourceRun, Scopes: runScopes(parley.TokenRun), Until: &until, Run: a.Run.ID, uuid: a.Agent.UUID}
	if a.Token != "" {
		c.Token, c.Kind = a.Run.ID, parley.TokenRun
	}
	return c
}

// theHub is the caller of what the hub does by itself, and for its dispatcher.
var theHub = Caller{Agent: parley.System}

// BeginRun says that the turn has started which has the triggers in its context, and by which process. What
// wakes nobody and was in the context too is seen with it. Of a run that has begun before, only the process
// changes: it had to be started anew.
func (h *Hub) BeginRun(ctx context.Context, run string, p parley.Process) error {
	from, upTo := h.live.context(run)
	return h.write(ctx, theHub, opItself, func(s *scene) error {
		r, err := s.liveRun(run)
		if err != nil {
			return err
		}
		if r.State != parley.RunStarting {
			return s.setProcess(&r, p)
		}
		if err := s.begin(&r, p); err != nil {
			return err
		}
		return s.seeQuiet(r, from, upTo)
	})
}

// begin takes a run from starting to running, and what woke it from delivered to seen.
func (s *scene) begin(r *parley.Run, p parley.Process) error {
	if err := s.step(r, parley.RunRunning, func(r *parley.Run) { r.Process = p }); err != nil {
		return err
	}
	list, err := s.Queue().Leased(r.ID)
	for i := range list {
		if err == nil && list[i].State == parley.DeliveryDelivered {
			err = s.move(&list[i], parley.DeliverySeen, nil)
		}
	}
	return err
}

// seeQuiet marks what wakes nobody as seen, where a run's context includes it.
func (s *scene) seeQuiet(r parley.Run, from, upTo int64) error {
	if upTo == 0 {
		return nil
	}
	list, err := s.Deliveries().Between(r.Conversation, r.Agent, from-1, upTo, mostTaken)
	for i := range list {
		if err == nil && list[i].Ready() && !list[i].Waking {
			err = s.move(&list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = r.ID })
		}
	}
	return err
}

// KeepRun extends the leases of a run by 60 s. It says why the run is to end, once somebody wants it to.
// E003, conflict, if it has ended already.
func (h *Hub) KeepRun(ctx context.Context, run string) (cancel string, err error) {
	err = h.write(ctx, theHub, opItself, func(s *scene) error {
		r, err := s.liveRun(run)
		if err != nil {
			return err
		}
		cancel = r.Cancel
		list, err := s.Queue().Leased(run)
		if err != nil {
			return err
		}
		return s.extend(list, runLease)
	})
	return cancel, err
}

// liveRun finds a run that has not ended.
func (s *scene) liveRun(id string) (parley.Run, error) {
	r, err := s.Runs().Get(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !r.State.Live() {
		return r, runOver(id)
	}
	return r, err
}

func runOver(id string) error {
	return parley.Errorf(parley.BadInput, "the run %s is over", id).Because(parley.Conflict).
		Suggest("look at how it ended: parley agent run %s", id)
}

// step takes a run to another state and writes the event. It is the only place where the state of a run
// changes. edit sets what goes with it.
func (s *scene) step(r *parley.Run, to parley.RunState, edit func(*parley.Run)) error {
	if !r.State.May(to) {
		return parley.Errorf(parley.BadInput, "run %s is %s and cannot become %s", r.ID, r.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	after := *r
	after.State = to
	switch {
	case !to.Live():
		after.EndedAt = &s.now
	case after.StartedAt == nil:
		after.StartedAt = &s.now
	}
	if edit != nil {
		edit(&after)
	}
	if err := s.keepRun(r, after); err != nil {
		return err
	}
	return s.noteRun(after)
}

// keepRun writes what a run has become.
func (s *scene) keepRun(r *parley.Run, after parley.Run) error {
	err := s.Runs().Put(after)
	if err == nil {
		*r = after
	}
	return err
}

// setProcess says by which process a run goes on, or that there is none.
func (s *scene) setProcess(r *parley.Run, p parley.Process) error {
	after := *r
	after.Process = p
	return s.keepRun(r, after)
}

// noteRun tells those who follow where a run stands: owners, and the agent itself, which was there unless the run
// is lost.
func (s *scene) noteRun(r parley.Run) error {
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
	s.note(parley.Event{Kind: parley.EventRun(r.State), Agent: r.Agent, Data: data})
	if r.State != parley.RunLost {
		s.hub.attendance.glimpsed(r.Agent, s.now)
	}
	return err
}

// eraseToken erases the token of a run, but for one of a webhook that has answered: whoever repeats the answer gets its receipt.
func (s *scene) eraseToken(r parley.Run) error {
	if r.Runtime == parley.RuntimeWebhook {
		t, err := s.Tokens().Get(r.ID)
		if err != nil || keptReply(t) {
			return ignoreNotFound(err)
		}
	}
	return ignoreNotFound(s.Tokens().Erase(r.ID))
}

// endRun ends a run: its token is gone, with what it holds open, and its agent may start another.
func (s *scene) endRun(r *parley.Run, to parley.RunState, edit func(*parley.Run)) error {
	if err := s.step(r, to, edit); err != nil {
		return err
	}
	s.wake(r.Agent)
	if err := s.freeWaits(*r); err != nil {
		return err
	}
	if err := s.lastRunEnded(*r); err != nil {
		return err
	}
	if err := s.passTurns(*r); err != nil {
		return err
	}
	if err := s.eraseToken(*r); err != nil {
		return err
	}
	live, err := s.Runs().Live(r.Agent)
	if err != nil || len(live) > 0 {
		return err
	}
	a, err := s.Agents().Find(r.Agent)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	return s.notePresenceOf(a, 0)
}

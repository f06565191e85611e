package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

const (
	// mostTriggers is how many messages wake one run at most. What is left wakes the next.
	mostTriggers = 100
	// sessionIdle is how long a client's session of a conversation is resumed after its last run.
	sessionIdle = 8 * time.Hour
)

// NextRun starts the next run of an agent, if it may start one and something waits for it: the most urgent
// message that woke it, and with it what else waits in the same conversation. All of it is leased to the run.
// It returns nil if there is nothing to start now, and then has only read.
func (h *Hub) NextRun(ctx context.Context, agent string, o RunOptions) (*Assignment, error) {
	var (
		turn  = h.turns.at(agent)
		st    start
		waits bool
	)
	err := h.view(ctx, theHub, func(s *scene) (err error) {
		st, waits, err = s.nextStart(agent, turn)
		return err
	})
	if err != nil || !waits {
		return nil, err
	}
	var (
		a    *Assignment
		plan = planned{o.plan(st.agent), o.Node, parley.NewSecret()}
	)
	err = h.write(ctx, theHub, func(s *scene) (err error) {
		a, err = s.nextRun(agent, turn, plan)
		return err
	})
	if err != nil || a == nil {
		return nil, err
	}
	a.Token = plan.secret
	h.turns.move(agent, 1)
	h.live.add(a.Run)
	return a, nil
}

// start is what a run of an agent would begin with.
type start struct {
	agent parley.Agent
	lead  parley.Delivery // the most urgent
	idle  bool            // the agent has no live run
}

// planned is what is known of a run before it is made.
type planned struct {
	RunPlan
	node   string
	secret string // of its token
}

// mostEnded is how much a search for the next run ends at most of what nobody needs to start for. It is gone on
// with when somebody asks again.
const mostEnded = 100

// nextRun makes the run that is to start, if there is one, and ends what has expired unnoticed, or is not for
// its recipient any more.
func (s *scene) nextRun(agent string, turn int, plan planned) (*Assignment, error) {
	for range mostEnded {
		st, found, err := s.nextStart(agent, turn)
		if err != nil || !found {
			return nil, err
		}
		if over, err := s.isOver(st); err != nil {
			return nil, err
		} else if over {
			continue
		}
		a := &Assignment{Agent: st.agent}
		if a.Deliveries, a.Messages, err = s.triggers(st.lead); err != nil {
			return nil, err
		}
		if a.Run, err = s.plan(a, plan); err != nil {
			return nil, err
		}
		return a, s.assign(a, st.idle, plan.secret)
	}
	s.woken = append(s.woken, agent)
	return nil, nil
}

// isOver ends what a run would begin with, if that is nothing to start for: it has expired, or its recipient
// may not read there any more.
func (s *scene) isOver(st start) (bool, error) {
	if s.expired(st.lead) {
		return true, s.expire(&st.lead)
	}
	c, err := s.Conversations().Find(st.lead.Conversation)
	if err != nil || c.ReadableByAll() {
		return false, err
	}
	in, err := s.takesPart(c, st.agent.ID)
	if err != nil || in {
		return false, err
	}
	return true, s.end(&st.lead, parley.DeliveryFailed, parley.Errorf(parley.NotPermitted, "%s does not take part in %s any more", st.agent.ID, c.Title()).
		Suggest("add it again, and send this again"))
}

func (s *scene) expired(d parley.Delivery) bool {
	return d.ExpiresAt != nil && !d.ExpiresAt.After(s.now)
}

// nextStart looks for what an agent's next run is to begin with.
func (s *scene) nextStart(agent string, turn int) (st start, found bool, err error) {
	st.agent, err = s.Agents().Find(agent)
	if errors.Is(err, parley.ErrNotFound) {
		return st, false, nil
	}
	if err != nil || st.agent.RemovedAt != nil || !st.agent.Dispatched() {
		return st, false, err
	}
	if _, ok, err := s.mayStart(st.agent); err != nil || !ok {
		return st, false, err
	}
	live, err := s.Runs().Live(st.agent.ID)
	if err != nil {
		return st, false, err
	}
	st.idle = len(live) == 0
	slots, busy := st.agent.Concurrency, []string{}
	for _, r := range live {
		busy = append(busy, r.Conversation)
		if r.State != parley.RunWaiting {
			slots--
		}
	}
	if slots <= 0 {
		return st, false, nil
	}
	st.lead, found, err = s.lead(st.agent, busy, turn)
	return st, found, err
}

// lead is the delivery that a run begins with: the most urgent one in a conversation that is not busy, or
// the oldest where it is its turn.
func (s *scene) lead(a parley.Agent, busy []string, turn int) (d parley.Delivery, found bool, err error) {
	q := parley.Queue{Recipient: a.ID, Wakes: true, Urgent: true, NotIn: busy, Limit: 1}
	for {
		list, err := s.Queue().Ready(q)
		if err == nil {
			list, err = s.withOldest(list, q, turn)
		}
		if err != nil || len(list) == 0 {
			return d, false, err
		}
		here := list[0].Conversation
		if mode, err := s.answersIn(here); err != nil || mode != parley.AnswersRoundRobin {
			return list[0], err == nil, err
		}
		in := q
		in.In, in.NotIn, in.Limit = here, nil, mostTriggers
		list, err = s.Queue().Ready(in)
		if err == nil {
			list, err = s.whoseTurn(list)
		}
		if err != nil || len(list) > 0 {
			return first(list), err == nil, err
		}
		q.NotIn = append(slices.Clip(q.NotIn), here)
	}
}

func first(list []parley.Delivery) (d parley.Delivery) {
	if len(list) > 0 {
		d = list[0]
	}
	return d
}

// triggers are what wakes a run: the delivery it begins with and what joins it, by seq. Where messages are
// large, what is left wakes the next run. An ask is answered by a run of its own.
func (s *scene) triggers(lead parley.Delivery) ([]parley.Delivery, []parley.Message, error) {
	m, err := s.Messages().Get(lead.Message)
	if err != nil || lead.Purpose == parley.PurposeAsk {
		return []parley.Delivery{lead}, []parley.Message{m}, err
	}
	joining, err := s.joining(lead)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(joining))
	for i, d := range joining {
		ids[i] = d.Message
	}
	messages, err := s.Messages().GetAll(ids)
	task := m.Task
	list := []parley.Delivery{lead}
	all := []parley.Message{m}
	for _, m := range messages {
		if m.Task != "" && task != "" && m.Task != task {
			continue
		}
		task = max(task, m.Task)
		list = append(list, joining[slices.Index(ids, m.ID)])
		all = append(all, m)
	}
	slices.SortFunc(list, bySeq)
	sortBySeq(all)
	return list, all, err
}

// joining is what else waits for the recipient in the same conversation, and for no purpose of its own. What
// has expired ends.
func (s *scene) joining(lead parley.Delivery) ([]parley.Delivery, error) {
	list, err := s.Queue().Ready(parley.Queue{
		Recipient: lead.Recipient, Wakes: true, Plain: true, In: lead.Conversation, Limit: mostTriggers,
	})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(d parley.Delivery) bool {
		if d.Message == lead.Message {
			return true
		}
		over := s.expired(d)
		if over && err == nil {
			err = s.expire(&d)
		}
		return over
	})
	if err != nil {
		return nil, err
	}
	list, err = s.whoseTurn(list)
	return list[:min(len(list), mostTriggers-1)], err
}

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
	if r.Task != "" || a.Deliveries[0].Purpose == parley.PurposeAsk {
		return r, nil
	}
	before, err := s.resumes(r)
	if before != nil {
		r.Session = before.Session
	}
	return r, err
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

// resumes is the run whose client's session another goes on with, or nil. A session belongs to the runtime
// that opened it.
func (s *scene) resumes(r parley.Run) (*parley.Run, error) {
	before, err := s.Runs().Session(r.Agent, r.Conversation, r.CreatedAt.Add(-sessionIdle))
	if errors.Is(err, parley.ErrNotFound) || err == nil && before.Runtime != r.Runtime {
		return nil, nil
	}
	return &before, err
}

// assign stores a run, leases to it what woke it, and makes its token.
func (s *scene) assign(a *Assignment, idle bool, secret string) error {
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
	if err := s.insertRunToken(r, secret); err != nil || !idle {
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

// insertRunToken makes the token of a run, whose id is the run's. It is neither told nor audited: the run is.
func (s *scene) insertRunToken(r parley.Run, secret string) error {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return errors.New("a secret of a wrong form was made")
	}
	return s.Tokens().Insert(parley.Token{
		ID: r.ID, Agent: r.Agent, Kind: parley.TokenRun, Scopes: runScopes(), CreatedBy: s.me.ID, CreatedAt: s.now,
		ExpiresAt: after(r.Deadline, runGrace),
	}, hash)
}

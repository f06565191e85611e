package turns

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	// maxTriggers is how many messages wake one run at most. The rest wakes the next run.
	maxTriggers = 100
	// sessionIdle is how long after its last run a client's session of a conversation can be resumed.
	sessionIdle = 8 * time.Hour
)

// NextRun starts the next run of an agent, if the agent may run and has pending deliveries. The run begins with an ask, or else
// with the most urgent waking delivery together with the other pending deliveries of its conversation. The hub leases all of
// them to the run. If there is nothing to start, NextRun returns nil and writes nothing.
func (s *Service) NextRun(ctx context.Context, agent string, o runs.RunOptions) (*runs.Assignment, error) {
	var (
		turn  = s.TakeCounts.At(agent)
		st    runStart
		waits bool
	)
	err := s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		st, waits, err = findRunStart(u, agent, turn, o.AsksOnly)
		return err
	})
	if err != nil || !waits {
		return nil, err
	}
	var (
		a    *runs.Assignment
		plan = plannedRun{o.ForRun(st.agent), o.Node, parley.NewSecret(), o.AsksOnly}
	)
	if err := s.Hooks.Recovered(ctx); err != nil {
		return nil, err
	}
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		a, err = startNextRun(u, agent, turn, plan)
		return err
	})
	if err != nil || a == nil {
		return nil, err
	}
	if a.Kind = plan.Token; a.Kind != "" {
		a.Token = plan.secret
	}
	s.TakeCounts.Add(agent, 1)
	s.Live.Add(a.Run)
	return a, nil
}

// runStart is what a run of an agent would begin with.
type runStart struct {
	agent    parley.Agent
	trigger  parley.Delivery // the most urgent delivery
	liveRuns []parley.Run
}

// plannedRun is what is known of a run before it is stored.
type plannedRun struct {
	runs.RunPlan
	node     string
	secret   string // of the run's token
	asksOnly bool   // start a run only for an ask
}

// maxEndedPerSearch bounds how many unneeded deliveries one search for the next run ends. The next search goes on.
const maxEndedPerSearch = 100

// startNextRun stores the run that is to start, or returns nil if there is none. Before that it ends deliveries that have
// expired, or whose recipient can no longer read the conversation.
func startNextRun(u *unit.Unit, agent string, turn int, plan plannedRun) (*runs.Assignment, error) {
	for range maxEndedPerSearch {
		st, found, err := findRunStart(u, agent, turn, plan.asksOnly)
		if err != nil || !found {
			return nil, err
		}
		if ended, err := endIfUnneeded(u, st); err != nil {
			return nil, err
		} else if ended {
			continue
		}
		a := &runs.Assignment{Agent: st.agent}
		if a.Deliveries, a.Messages, err = collectTriggers(u, st); err != nil {
			return nil, err
		}
		if a.Run, err = planRun(u, a, plan); err != nil {
			return nil, err
		}
		return a, storeAssignment(u, a, len(st.liveRuns) == 0, plan)
	}
	u.Wake(agent)
	return nil, nil
}

// endIfUnneeded ends the delivery with which a run would begin, and returns true, if no run is needed: the delivery has expired
// or is damaged, or its recipient can no longer read the conversation.
func endIfUnneeded(u *unit.Unit, st runStart) (bool, error) {
	if hasExpired(u, st.trigger) {
		return true, work.Expire(u, &st.trigger)
	}
	if ended, err := endIfDamaged(u, &st.trigger); err != nil || ended {
		return ended, err
	}
	c, err := u.Conversations().Find(st.trigger.Conversation)
	if err != nil || c.ReadableByAll() {
		return false, err
	}
	in, err := conversations.TakesPart(u, c, st.agent.ID)
	if err != nil || in {
		return false, err
	}
	return true, deliveries.End(u, &st.trigger, parley.DeliveryFailed, parley.Errorf(parley.NotPermitted, "%s is no longer a member of %s", st.agent.ID, c.Title()).
		Suggest("add it again, and send the message again"))
}

// endIfDamaged ends a delivery whose row or message is damaged, and reports whether it was.
func endIfDamaged(u *unit.Unit, d *parley.Delivery) (bool, error) {
	m, err := u.Messages().Get(d.Message)
	if errors.Is(err, parley.ErrNotFound) {
		var lost bool
		if m, lost, err = work.StandInForLost(u, *d); err == nil && !lost {
			return false, parley.ErrNotFound
		}
	}
	if err != nil {
		return false, err
	}
	failure := unit.Damaged(*d, m)
	if failure == nil {
		return false, nil
	}
	return true, work.EndDamaged(u, d, failure)
}

func hasExpired(u *unit.Unit, d parley.Delivery) bool {
	return d.ExpiresAt != nil && !d.ExpiresAt.After(u.Now)
}

// findRunStart looks for the delivery with which the next run of an agent begins: an ask, which ignores sleep and other runs,
// or else another pending delivery.
func findRunStart(u *unit.Unit, agent string, turn int, asksOnly bool) (st runStart, found bool, err error) {
	st.agent, err = u.Agents().Find(agent)
	if errors.Is(err, parley.ErrNotFound) {
		return st, false, nil
	}
	if err != nil || st.agent.RemovedAt != nil || !st.agent.Dispatched() {
		return st, false, err
	}
	if _, ok, err := presence.MayAnswer(u, st.agent); err != nil || !ok {
		return st, false, err
	}
	if st.liveRuns, err = u.Runs().Live(st.agent.ID); err != nil || waits.Single(st.agent) && len(st.liveRuns) > 0 {
		return st, false, err
	}
	if st.trigger, found, err = nextAsk(u, st); err != nil || found {
		return st, found, err
	}
	if asksOnly || st.agent.Asleep(u.Now) || st.freeSlots() <= 0 {
		return st, false, nil
	}
	st.trigger, found, err = chooseTrigger(u, st, turn)
	return st, found, err
}

// nextAsk returns the ask with which a run begins, if there is one and a slot is free. The hub refuses asks when all slots are
// taken, but the configuration may have lowered their number since.
func nextAsk(u *unit.Unit, st runStart) (d parley.Delivery, found bool, err error) {
	slots := u.Core.Config.Asks.Slots
	for _, r := range st.liveRuns {
		if r.Ask && r.State != parley.RunWaiting {
			slots--
		}
	}
	if slots <= 0 {
		return d, false, nil
	}
	list, err := u.Queue().Ready(storage.QueueFilter{Recipient: st.agent.ID, Wakes: true, Urgent: true, Purpose: parley.PurposeAsk, Limit: 1})
	return firstOrZero(list), len(list) > 0, err
}

// freeSlots is how many more runs the agent may have. Runs that answer asks do not count.
func (st runStart) freeSlots() int {
	slots := st.agent.Concurrency
	for _, r := range st.liveRuns {
		if !r.Ask && r.State != parley.RunWaiting {
			slots--
		}
	}
	return slots
}

// busyPlaces returns the conversations and the tasks that live runs of the agent occupy. Runs that answer asks occupy no
// conversation.
func (st runStart) busyPlaces() (conversations, tasks []string) {
	for _, r := range st.liveRuns {
		if !r.Ask {
			conversations = append(conversations, r.Conversation)
		}
		if r.Task != "" {
			tasks = append(tasks, r.Task)
		}
	}
	return conversations, tasks
}

// chooseTrigger returns the delivery with which a run begins: the most urgent one in a conversation without a live run, or the
// oldest one when its turn has come. If there is none, a delivery of another task may start a run in a busy conversation.
func chooseTrigger(u *unit.Unit, st runStart, turn int) (d parley.Delivery, found bool, err error) {
	busy, tasks := st.busyPlaces()
	q := storage.QueueFilter{Recipient: st.agent.ID, Wakes: true, Urgent: true, NotIn: busy, Limit: 1}
	for {
		list, err := u.Queue().Ready(q)
		if err == nil {
			list, err = deliveries.WithOldest(u, list, q, turn)
		}
		if err != nil {
			return d, false, err
		}
		if len(list) == 0 {
			return chooseTriggerOfOtherTask(u, st.agent, busy, tasks)
		}
		conversation := list[0].Conversation
		if d, found, err = chooseTriggerIn(u, conversation, list[0], q, tasks); err != nil || found {
			return d, found, err
		}
		q.NotIn = append(slices.Clip(q.NotIn), conversation)
	}
}

// chooseTriggerIn returns the delivery of a conversation with which a run may begin. d is the most urgent one. It is not chosen
// if a live run has its task, or if another member's turn comes first.
func chooseTriggerIn(u *unit.Unit, conversation string, d parley.Delivery, q storage.QueueFilter, busy []string) (parley.Delivery, bool, error) {
	mode, err := work.FindAnswerMode(u, conversation)
	if err != nil {
		return d, false, err
	}
	free, err := belongsToNone(u, busy, d)
	if err != nil || free && mode != parley.AnswersRoundRobin {
		return d, free, err
	}
	q.In, q.NotIn, q.Limit = conversation, nil, maxTriggers
	list, err := u.Queue().Ready(q)
	if err == nil {
		list, err = work.DeliveriesInTurn(u, list)
	}
	for _, d := range list {
		if free, err := belongsToNone(u, busy, d); err != nil || free {
			return d, free, err
		}
	}
	return d, false, err
}

// chooseTriggerOfOtherTask returns a delivery that starts a run of one task in a conversation where a run of another task is
// live.
func chooseTriggerOfOtherTask(u *unit.Unit, a parley.Agent, conversations, busy []string) (d parley.Delivery, found bool, err error) {
	for _, conversation := range conversations {
		list, err := u.Queue().Ready(storage.QueueFilter{Recipient: a.ID, Wakes: true, Urgent: true, In: conversation, Limit: maxTriggers})
		if err != nil {
			return d, false, err
		}
		for _, d := range list {
			task, err := taskStartedBy(u, d)
			if err != nil || task != "" && !slices.Contains(busy, task) {
				return d, err == nil, err
			}
		}
	}
	return d, false, nil
}

// belongsToNone reports whether a delivery starts a run of none of the tasks.
func belongsToNone(u *unit.Unit, tasks []string, d parley.Delivery) (bool, error) {
	if len(tasks) == 0 {
		return true, nil
	}
	task, err := taskStartedBy(u, d)
	return task == "" || !slices.Contains(tasks, task), err
}

// taskStartedBy returns the task that a delivery starts a run of. A message that only mentions a task starts no run of it: the
// result is empty.
func taskStartedBy(u *unit.Unit, d parley.Delivery) (string, error) {
	if d.Purpose == "" || d.Purpose == parley.PurposeError {
		return "", nil
	}
	m, err := u.Messages().Get(d.Message)
	return m.Task, err
}

func firstOrZero(list []parley.Delivery) (d parley.Delivery) {
	if len(list) > 0 {
		d = list[0]
	}
	return d
}

// collectTriggers returns what wakes a run, in the order of their seq: the delivery with which it begins, and the deliveries
// that join it. Deliveries whose messages are too large wake the next run. An ask gets a run of its own.
func collectTriggers(u *unit.Unit, st runStart) ([]parley.Delivery, []parley.Message, error) {
	m, err := u.Messages().Get(st.trigger.Message)
	if err != nil || st.trigger.Purpose == parley.PurposeAsk {
		return []parley.Delivery{st.trigger}, []parley.Message{m}, err
	}
	joining, err := joiningDeliveries(u, st.trigger)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(joining))
	for i, d := range joining {
		ids[i] = d.Message
	}
	messages, err := u.Messages().GetAll(ids)
	_, busy := st.busyPlaces()
	task := m.Task
	list := []parley.Delivery{st.trigger}
	all := []parley.Message{m}
	for _, m := range messages {
		if m.Task != task && m.Task != "" && (task != "" || slices.Contains(busy, m.Task)) {
			continue
		}
		at := slices.Index(ids, m.ID)
		if at < 0 {
			continue // its id is damaged: it ends when a run would begin with it
		}
		one := joining[at]
		if failure := unit.Damaged(one, m); failure != nil {
			if err := work.EndDamaged(u, &one, failure); err != nil {
				return nil, nil, err
			}
			continue
		}
		task = max(task, m.Task)
		list = append(list, one)
		all = append(all, m)
	}
	slices.SortFunc(list, deliveries.BySeq)
	unit.SortBySeq(all)
	return list, all, err
}

// joiningDeliveries returns the other pending deliveries to the recipient in the same conversation. Asks and requests of tasks
// are not among them, because each wakes its own run. Expired deliveries end.
func joiningDeliveries(u *unit.Unit, lead parley.Delivery) ([]parley.Delivery, error) {
	list, err := u.Queue().Ready(storage.QueueFilter{Recipient: lead.Recipient, Wakes: true, In: lead.Conversation, Limit: maxTriggers})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(d parley.Delivery) bool {
		if d.Message == lead.Message || d.Purpose == parley.PurposeAsk || d.Purpose == parley.PurposeTask {
			return true
		}
		ended := hasExpired(u, d)
		if ended && err == nil {
			err = work.Expire(u, &d)
		}
		return ended
	})
	if err != nil {
		return nil, err
	}
	list, err = work.DeliveriesInTurn(u, list)
	return list[:min(len(list), maxTriggers-1)], err
}

package hub

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// mostParked is how many asks to one agent may be parked at a time.
const mostParked = 256

// park has the ask that a run answers end with the task that the run was given. E002 if too many asks are parked.
func (s *scene) park(r parley.Run, t parley.Task) error {
	if !r.Ask || len(r.Triggers) == 0 {
		return nil
	}
	w, err := s.Waits().Ask(r.Triggers[0])
	if err != nil || w.State.Ended() || w.Work != "" {
		return ignoreNotFound(err)
	}
	if err := s.mayPark(w.Target); err != nil {
		return err
	}
	after := w
	after.Work = t.ID
	return s.keepWait(&w, after)
}

// mayPark refuses to park more asks to an agent than there may be.
func (s *scene) mayPark(target string) error {
	parked, err := s.Waits().Parked(target)
	if err != nil || len(parked) < mostParked {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%d asks to %s wait for other work already, and no more can", len(parked), target).
		Retryable(0).Suggest("try again when some of that work has ended")
}

// askOf is the ask that ends with a task, if it has not ended.
func (s *scene) askOf(task string) (w parley.Wait, open bool, err error) {
	if task == "" {
		return w, false, nil
	}
	w, err = s.Waits().Working(task)
	if errors.Is(err, parley.ErrNotFound) {
		return w, false, nil
	}
	return w, err == nil && !w.State.Ended(), err
}

// askDepth is the depth of what the runs of a task ask: that of the ask which the task answers, plus one.
func (s *scene) askDepth(t parley.Task) (int, error) {
	if t.Source != parley.TaskFromAsk {
		return 0, nil
	}
	w, err := s.Waits().Working(t.ID)
	if err != nil {
		return 0, ignoreNotFound(err)
	}
	return w.Depth + 1, nil
}

// answering says what the end of a run means for the ask that its task answers.
type answering struct {
	parked bool // the ask ends with the task of the run
	goesOn bool // which does not end with the run
}

// answering returns it for a run that is about to end well.
func (s *scene) answering(r parley.Run) (a answering, err error) {
	t, mine, err := s.taskAt(r)
	if err != nil || !mine || t.Source != parley.TaskFromAsk {
		return a, err
	}
	if _, a.parked, err = s.askOf(t.ID); err != nil || !a.parked {
		return a, err
	}
	a.goesOn, err = s.goesOnWithout(t, r)
	return a, err
}

// postpones reports whether a message of a delivery's recipient is not the answer to the ask. The final text of a run answers
// only if the run has the ask's delivery: other runs are woken in the same conversation, and speak there too. While the ask is
// parked and its task is open, no message answers it. But a webhook may answer later by the API, and the hub cannot tell which
// of its messages is the answer: its first reply is.
func (s *scene) postpones(d parley.Delivery, run *parley.Run) (bool, error) {
	if d.Purpose != parley.PurposeAsk {
		return false, nil
	}
	if run != nil && d.Lease != run.ID {
		return true, nil
	}
	w, err := s.Waits().Ask(d.Message)
	if err != nil || w.State.Ended() || w.Work == "" {
		return false, ignoreNotFound(err)
	}
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil || run == nil && (!recipient.Dispatched() || recipient.Runtime == parley.RuntimeWebhook) {
		return false, err
	}
	t, err := s.Tasks().Get(w.Work)
	return err == nil && !t.Status.Ended(), ignoreNotFound(err)
}

// askTaskEnded ends the ask that a task answers, when the task ends. answer is the final message of the task's last run, if
// there is one.
func (s *scene) askTaskEnded(t parley.Task, answer string) error {
	if t.Source != parley.TaskFromAsk {
		return nil
	}
	w, open, err := s.askOf(t.ID)
	if err != nil || !open {
		return err
	}
	if t.Status != parley.TaskCompleted {
		return s.failAsk(w, t)
	}
	if answer == "" {
		if answer, err = s.sayResult(w, t); err != nil {
			return err
		}
	}
	if answer != "" {
		return s.answerAsk(w, answer)
	}
	if live, err := s.Runs().InTask(t.ID); err != nil || len(live) > 0 {
		return err // its text is the answer: see lastRunEnded
	}
	return s.failAsk(w, t)
}

// failAsk tells the asker that the task ended without an answer.
func (s *scene) failAsk(w parley.Wait, t parley.Task) error {
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	why := noAnswer
	if t.Status != parley.TaskCompleted {
		if why = string(t.Status); t.Error != nil {
			why = t.Error.Message
		}
	}
	return s.endAsk(w, "", failedToRespond(assignee, why))
}

// answerAsk ends an ask with a message. The delivery of the request, which was only acknowledged, is answered by it.
func (s *scene) answerAsk(w parley.Wait, answer string) error {
	if err := s.endAsk(w, answer, nil); err != nil {
		return err
	}
	d, err := s.Deliveries().Get(w.Message, w.Target)
	if err != nil {
		return ignoreNotFound(err)
	}
	return s.markAnswered(&d, answer)
}

// sayResult posts the result of a task that a call completed, in the name of its assignee, because no message has it. The
// asker gets the result by its ask.
func (s *scene) sayResult(w parley.Wait, t parley.Task) (string, error) {
	if t.Result == nil || t.Result.Text == "" {
		return "", nil
	}
	request, err := s.Messages().Get(w.Message)
	if err != nil {
		return "", ignoreNotFound(err)
	}
	m := parley.Message{
		From: t.Assignee, To: w.Waiter, Conversation: request.Conversation, Type: parley.TypeResponse, Task: t.ID, Source: sourceRun,
		InReplyTo: request.ID, TraceID: request.TraceID, Hops: request.Hops + 1, Content: parley.Content{Text: s.hub.fitting(t.Result.Text)},
	}
	if t.Assignee != w.Target { // it was given to somebody else, who may not read there
		m.Conversation, m.InReplyTo = t.Conversation, ""
	}
	m, err = s.utter(m)
	if m.Seq == 0 {
		m.ID = "" // there is nowhere to say it any more
	}
	return m.ID, err
}

// lastRunEnded ends the ask of a task that was completed without a word, once the last of its runs has ended.
func (s *scene) lastRunEnded(r parley.Run) error {
	_, open, err := s.askOf(r.Task)
	if err != nil || !open {
		return err
	}
	t, err := s.Tasks().Get(r.Task)
	if err != nil || !t.Status.Ended() {
		return err
	}
	return s.askTaskEnded(t, r.Answer)
}

// requestComes reports whether the request of an ask will wake another run of its task, because the run that had it was
// stopped.
func (s *scene) requestComes(t parley.Task, without parley.Run) (bool, error) {
	if t.Source != parley.TaskFromAsk || t.Message == "" {
		return false, nil
	}
	d, err := s.Deliveries().Get(t.Message, t.Assignee)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	return d.Open() && (d.Lease == "" || d.Lease != without.ID), nil
}

// cancelAsked cancels what answers the asks of a run that was cancelled by a person, a task, or another answer: a task
// with all under it, or the run that answers. What somebody else waits for goes on.
func (s *scene) cancelAsked(r parley.Run, asks []parley.Wait) error {
	why := r.Agent + " does not need it any more: its run was cancelled " + r.Cancel
	for _, asked := range asks {
		w, err := s.Waits().Ask(asked.Message)
		if errors.Is(err, parley.ErrNotFound) || err == nil && w.State.Ended() {
			continue
		}
		wanted, err := s.wantedByOthers(w)
		if err != nil {
			return err
		}
		if wanted {
			continue
		}
		if w.State != parley.WaitAbandoned {
			err = s.shift(&w, parley.WaitAbandoned, nil)
		}
		if err == nil {
			err = s.cancelAnswer(w, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wantedByOthers reports whether anybody but the asking run waits for the answer to an ask.
func (s *scene) wantedByOthers(w parley.Wait) (bool, error) {
	waits, err := s.approvalWaits(w)
	if err != nil || waits || w.State == parley.WaitWaiting { // which it is only for another
		return true, err
	}
	request, err := s.Messages().Get(w.Message)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	list, err := s.Waits().In(request.Conversation)
	return slices.ContainsFunc(list, func(other parley.Wait) bool {
		return other.Message == w.Message && other.ID != w.ID && other.State == parley.WaitWaiting
	}), err
}

// cancelAnswer cancels the task that an ask has become, or else the run that answers it.
func (s *scene) cancelAnswer(w parley.Wait, why string) error {
	if w.Work != "" {
		t, err := s.Tasks().Get(w.Work)
		if err != nil || t.Status.Ended() {
			return ignoreNotFound(err)
		}
		return s.endTask(t, cancelling(why))
	}
	target, err := s.Agents().Find(w.Target)
	if err != nil || !target.Dispatched() {
		return err
	}
	d, err := s.Deliveries().Get(w.Message, w.Target)
	if err != nil || !d.Open() {
		return ignoreNotFound(err)
	}
	answers, runs, err := s.runOf(d)
	switch {
	case err != nil:
		return err
	case !runs:
		return s.end(&d, parley.DeliveryFailed, parley.Errorf(parley.Unavailable, "%s", why))
	case answers.Cancel == "":
		return s.cancel(&answers, why)
	default:
		return nil
	}
}

// holdAnswer gives a task to a run that answers an ask and has a call held: the outcome of the call wakes another run, which
// goes on answering.
func (s *scene) holdAnswer(r *parley.Run) error {
	if !r.Ask || r.Task != "" || len(r.Triggers) == 0 {
		return nil
	}
	w, err := s.Waits().Ask(r.Triggers[0])
	if err != nil || w.State.Ended() {
		return ignoreNotFound(err)
	}
	_, err = s.giveTask(r)
	return err
}

// needs is called when work needs a further participant, to do a part of it or to approve a call. That participant may be an
// agent with one session, or one slot, that waits for the answer which this work is to give. Then neither could go on, so
// its ask is late at once.
func (s *scene) needs(agent string) error {
	if agent == "" {
		return nil
	}
	a, err := s.Agents().Find(agent)
	if err != nil {
		return err
	}
	only, err := s.onlyNodes(a)
	if err != nil {
		return err
	}
	callers := map[node]bool{}
	for _, n := range only {
		callers[n] = true
	}
	for _, n := range only {
		if err := s.freeIfNeeded(n, callers); err != nil {
			return err
		}
	}
	return nil
}

// needsTask is called when a task was asked for: it needs its assignee. If it depends on others, it also needs the runs
// at these to end, and one of them may wait for the answer that the task is a part of.
func (s *scene) needsTask(t parley.Task) error {
	if err := s.needs(t.Assignee); err != nil || len(t.DependsOn) == 0 {
		return err
	}
	nodes, err := s.workers(t)
	for _, n := range nodes {
		if err == nil {
			err = s.freeIfNeeded(n, map[node]bool{n: true})
		}
	}
	return err
}

// freeIfNeeded makes those asks of a node late whose answers need one of some nodes.
func (s *scene) freeIfNeeded(n node, callers map[node]bool) error {
	waits, err := s.waitsOf(n)
	for i := range waits {
		if err == nil {
			err = s.lateIfNeeded(&waits[i], callers)
		}
	}
	return err
}

// lateIfNeeded makes an ask late whose answer needs one of its own waiters.
func (s *scene) lateIfNeeded(w *parley.Wait, callers map[node]bool) error {
	if !w.Ask {
		return nil
	}
	target, err := s.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	answerers, err := s.answerers(target, w.Message)
	if err != nil {
		return err
	}
	c := waitGraph{scene: s, callers: callers, seen: map[node]bool{}}
	for _, n := range answerers {
		path, err := c.from(n)
		if err != nil {
			return err
		}
		if path != nil {
			return s.late(w, s.now)
		}
	}
	return nil
}

package work

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// maxParked is how many asks to one agent may be parked at a time.
const maxParked = 256

// park lets the ask that a run answers end with the task that the run was given. E002 if too many asks are parked.
func park(u *unit.Unit, r parley.Run, t parley.Task) error {
	if !r.Ask || len(r.Triggers) == 0 {
		return nil
	}
	w, err := u.Waits().Ask(r.Triggers[0])
	if err != nil || w.State.Ended() || w.AnswerTask != "" {
		return unit.IgnoreNotFound(err)
	}
	if err := mayPark(u, w.Target); err != nil {
		return err
	}
	after := w
	after.AnswerTask = t.ID
	return waits.Save(u, &w, after)
}

// mayPark refuses to park more asks to an agent than maxParked.
func mayPark(u *unit.Unit, target string) error {
	parked, err := u.Waits().Parked(target)
	if err != nil || len(parked) < maxParked {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%d asks to %s already wait for other work, which is the limit", len(parked), target).
		Retryable(0).Suggest("try again when some of that work has ended")
}

// AskOf returns the open ask that ends with a task.
func AskOf(u *unit.Unit, task string) (w parley.Wait, open bool, err error) {
	if task == "" {
		return w, false, nil
	}
	w, err = u.Waits().ParkedAs(task)
	if errors.Is(err, parley.ErrNotFound) {
		return w, false, nil
	}
	return w, err == nil && !w.State.Ended(), err
}

// askDepth returns the depth of asks from the runs of a task: that of the ask which the task answers, plus one.
func askDepth(u *unit.Unit, t parley.Task) (int, error) {
	if t.Source != parley.TaskFromAsk {
		return 0, nil
	}
	w, err := u.Waits().ParkedAs(t.ID)
	if err != nil {
		return 0, unit.IgnoreNotFound(err)
	}
	return w.Depth + 1, nil
}

// answerState says what the end of a run means for the ask that its task answers.
type answerState struct {
	Parked bool // the ask ends with the task of the run
	GoesOn bool // that task does not end with the run
}

// FindAnswerState returns the answer state of a run that is about to succeed.
func FindAnswerState(u *unit.Unit, r parley.Run) (a answerState, err error) {
	t, found, err := FindOpenTask(u, r)
	if err != nil || !found || t.Source != parley.TaskFromAsk {
		return a, err
	}
	if _, a.Parked, err = AskOf(u, t.ID); err != nil || !a.Parked {
		return a, err
	}
	a.GoesOn, err = goesOnWithout(u, t, r)
	return a, err
}

// isNoAnswer reports whether a message of a delivery's recipient is not the answer to the ask. The final text of a run answers
// only if the run has the ask's delivery: other runs are woken in the same conversation, and speak there too. While the ask is
// parked and its task is open, no message answers it. But a webhook may answer later by the API, and the hub cannot tell which
// of its messages is the answer: its first reply is.
func isNoAnswer(u *unit.Unit, d parley.Delivery, run *parley.Run) (bool, error) {
	if d.Purpose != parley.PurposeAsk {
		return false, nil
	}
	if run != nil && d.Lease != run.ID {
		return true, nil
	}
	w, err := u.Waits().Ask(d.Message)
	if err != nil || w.State.Ended() || w.AnswerTask == "" {
		return false, unit.IgnoreNotFound(err)
	}
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || run == nil && (!recipient.Dispatched() || recipient.Runtime == parley.RuntimeWebhook) {
		return false, err
	}
	t, err := u.Tasks().Get(w.AnswerTask)
	return err == nil && !t.Status.Ended(), unit.IgnoreNotFound(err)
}

// askTaskEnded ends the ask that a task answers, when the task ends. answer is the final message of the task's last run, if
// there is one.
func askTaskEnded(u *unit.Unit, t parley.Task, answer string) error {
	if t.Source != parley.TaskFromAsk {
		return nil
	}
	w, open, err := AskOf(u, t.ID)
	if err != nil || !open {
		return err
	}
	if t.Status != parley.TaskCompleted {
		return failAsk(u, w, t)
	}
	if answer == "" {
		if answer, err = sayResult(u, w, t); err != nil {
			return err
		}
	}
	if answer != "" {
		return answerAsk(u, w, answer)
	}
	if live, err := u.Runs().InTask(t.ID); err != nil || len(live) > 0 {
		return err // the text of a live run will be the answer: see lastRunEnded
	}
	return failAsk(u, w, t)
}

// failAsk tells the asker that the task ended without an answer.
func failAsk(u *unit.Unit, w parley.Wait, t parley.Task) error {
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	why := noAnswer
	if t.Status != parley.TaskCompleted {
		if why = string(t.Status); t.Error != nil {
			why = t.Error.Message
		}
	}
	return EndAsk(u, w, "", NoResponseError(assignee, why))
}

// answerAsk ends an ask with a message. The delivery of the request, which was only acknowledged, is answered by it.
func answerAsk(u *unit.Unit, w parley.Wait, answer string) error {
	if err := EndAsk(u, w, answer, nil); err != nil {
		return err
	}
	d, err := u.Deliveries().Get(w.Message, w.Target)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	return markAnswered(u, &d, answer)
}

// sayResult posts the result of a task that a call completed, in the name of its assignee, because no message has it. The
// asker gets the result by its ask.
func sayResult(u *unit.Unit, w parley.Wait, t parley.Task) (string, error) {
	if t.Result == nil || t.Result.Text == "" {
		return "", nil
	}
	request, err := u.Messages().Get(w.Message)
	if err != nil {
		return "", unit.IgnoreNotFound(err)
	}
	m := parley.Message{
		From: t.Assignee, To: w.Waiter, Conversation: request.Conversation, Type: parley.TypeResponse, Task: t.ID, Source: runs.SourceRun,
		InReplyTo: request.ID, TraceID: request.TraceID, Hops: request.Hops + 1, Content: parley.Content{Text: u.Core.Fitting(t.Result.Text)},
	}
	if t.Assignee != w.Target { // the new assignee may not read the conversation
		m.Conversation, m.InReplyTo = t.Conversation, ""
	}
	m, err = messages.PostUnsent(u, m)
	if m.Seq == 0 {
		m.ID = "" // the conversation was deleted
	}
	return m.ID, err
}

// lastRunEnded ends the ask of a task that was completed without a result, once the last of its runs has ended.
func lastRunEnded(u *unit.Unit, r parley.Run) error {
	_, open, err := AskOf(u, r.Task)
	if err != nil || !open {
		return err
	}
	t, err := u.Tasks().Get(r.Task)
	if err != nil || !t.Status.Ended() {
		return err
	}
	return askTaskEnded(u, t, r.Answer)
}

// requestComes reports whether the request of an ask will wake another run of its task, because the run that had it was
// stopped.
func requestComes(u *unit.Unit, t parley.Task, without parley.Run) (bool, error) {
	if t.Source != parley.TaskFromAsk || t.Message == "" {
		return false, nil
	}
	d, err := u.Deliveries().Get(t.Message, t.Assignee)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	return d.Open() && (d.Lease == "" || d.Lease != without.ID), nil
}

// CancelAsked cancels the answers to the asks of a run that a person, a task or another answer has cancelled: a task with all its
// subtasks, or the run that answers. An answer that another participant waits for goes on.
func CancelAsked(u *unit.Unit, r parley.Run, asks []parley.Wait) error {
	why := r.Agent + " no longer needs it: its run was cancelled " + r.Cancel
	for _, asked := range asks {
		w, err := u.Waits().Ask(asked.Message)
		if errors.Is(err, parley.ErrNotFound) || err == nil && w.State.Ended() {
			continue
		}
		wanted, err := wantedByOthers(u, w)
		if err != nil {
			return err
		}
		if wanted {
			continue
		}
		if w.State != parley.WaitAbandoned {
			err = waits.SetState(u, &w, parley.WaitAbandoned, nil)
		}
		if err == nil {
			err = cancelAnswer(u, w, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wantedByOthers reports whether anybody but the asking run waits for the answer to an ask.
func wantedByOthers(u *unit.Unit, w parley.Wait) (bool, error) {
	approvalWaits, err := waits.ApprovalWaits(u, w)
	if err != nil || approvalWaits || w.State == parley.WaitWaiting { // another caller waits
		return true, err
	}
	request, err := u.Messages().Get(w.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	list, err := u.Waits().InConversation(request.Conversation)
	return slices.ContainsFunc(list, func(other parley.Wait) bool {
		return other.Message == w.Message && other.ID != w.ID && other.State == parley.WaitWaiting
	}), err
}

// cancelAnswer cancels the task that an ask has become, or else the run that answers it.
func cancelAnswer(u *unit.Unit, w parley.Wait, why string) error {
	if w.AnswerTask != "" {
		t, err := u.Tasks().Get(w.AnswerTask)
		if err != nil || t.Status.Ended() {
			return unit.IgnoreNotFound(err)
		}
		return EndTask(u, t, CancelledEnding(why))
	}
	target, err := u.Agents().Find(w.Target)
	if err != nil || !target.Dispatched() {
		return err
	}
	d, err := u.Deliveries().Get(w.Message, w.Target)
	if err != nil || !d.Open() {
		return unit.IgnoreNotFound(err)
	}
	answers, running, err := runs.RunOf(u, d)
	switch {
	case err != nil:
		return err
	case !running:
		return deliveries.End(u, &d, parley.DeliveryFailed, parley.Errorf(parley.Unavailable, "%s", why))
	case answers.Cancel == "":
		return runs.Cancel(u, &answers, why)
	default:
		return nil
	}
}

// GiveTaskForHeldCall gives a task to a run that answers an ask and has a call held: the outcome of the call wakes another run, which
// goes on answering.
func GiveTaskForHeldCall(u *unit.Unit, r *parley.Run) error {
	if !r.Ask || r.Task != "" || len(r.Triggers) == 0 {
		return nil
	}
	w, err := u.Waits().Ask(r.Triggers[0])
	if err != nil || w.State.Ended() {
		return unit.IgnoreNotFound(err)
	}
	_, err = giveTask(u, r)
	return err
}

// FreeIfWaiting is called when work needs another participant, to do a part of it or to approve a call. That participant may be an agent with
// one session or one slot, which waits for the answer that this work is to give. Then neither could go on, so its ask is late at once.
func FreeIfWaiting(u *unit.Unit, agent string) error {
	if agent == "" {
		return nil
	}
	a, err := u.Agents().Find(agent)
	if err != nil {
		return err
	}
	only, err := waits.OnlyVertices(u, a)
	if err != nil {
		return err
	}
	callers := map[waits.Vertex]bool{}
	for _, n := range only {
		callers[n] = true
	}
	for _, n := range only {
		if err := freeIfNeeded(u, n, callers); err != nil {
			return err
		}
	}
	return nil
}

// needsTask is called when a task was requested: it needs its assignee. If it depends on other tasks, it also needs the runs of these
// to end, and one of them may wait for the answer that the task is a part of.
func needsTask(u *unit.Unit, t parley.Task) error {
	if err := FreeIfWaiting(u, t.Assignee); err != nil || len(t.DependsOn) == 0 {
		return err
	}
	vertices, err := waits.Workers(u, t)
	for _, n := range vertices {
		if err == nil {
			err = freeIfNeeded(u, n, map[waits.Vertex]bool{n: true})
		}
	}
	return err
}

// freeIfNeeded makes those asks of a vertex late whose answers need one of the callers.
func freeIfNeeded(u *unit.Unit, n waits.Vertex, callers map[waits.Vertex]bool) error {
	list, err := waits.WaitsOf(u, n)
	for i := range list {
		if err == nil {
			err = lateIfNeeded(u, &list[i], callers)
		}
	}
	return err
}

// lateIfNeeded makes an ask late whose answer needs one of the callers.
func lateIfNeeded(u *unit.Unit, w *parley.Wait, callers map[waits.Vertex]bool) error {
	if !w.Ask {
		return nil
	}
	target, err := u.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	answerers, err := waits.Answerers(u, target, w.Message)
	if err != nil {
		return err
	}
	c := waits.WaitGraph{Unit: u, Callers: callers, Seen: map[waits.Vertex]bool{}}
	for _, n := range answerers {
		path, err := c.From(n)
		if err != nil {
			return err
		}
		if path != nil {
			return makeLate(u, w, u.Now)
		}
	}
	return nil
}

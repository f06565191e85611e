package hub

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// outcome is something a caller can wait for: how to read its state, and what to do when it has ended.
type outcome struct {
	about  string // what moves when there is something to look at
	look   func(ctx context.Context) (parley.Awaited, error)
	waits  func(*scene) ([]parley.Wait, error) // the edges of the wait graph while somebody waits; nil: none
	brings func() brought                      // what the caller gets with an outcome that has ended
}

// brought are the messages whose content a call returns.
type brought struct {
	callback string         // which is settled, so that its recipient gets the outcome once
	answers  []string       // ids; one may be empty
	failed   parley.Message // without an answer: the outcome says what the hub has told its sender
}

// AwaitOutcome waits until a message is answered, an ask or a task has ended, or an approval has been decided and its call has
// returned, and returns the outcome. If it has ended already, AwaitOutcome returns at once; when the time is up, it returns the
// state so far. The caller must be allowed to read it. E003 if the id names nothing to wait for; E005 if waiting would close a
// circle.
//
// The caller gets the outcome once: AwaitOutcome settles its callback.
func (h *Hub) AwaitOutcome(ctx context.Context, caller Caller, id string, wait time.Duration) (now parley.Awaited, err error) {
	if wait < 0 {
		return now, parley.Errorf(parley.BadInput, "the wait is %s", wait).Suggest("wait 0s or longer")
	}
	o, err := h.outcomeOf(ctx, caller, id)
	if err != nil {
		return now, err
	}
	if now, err = o.look(ctx); err == nil && !now.Done && wait > 0 {
		now, err = h.awaitOutcome(ctx, caller, o, wait)
	}
	if err != nil || !now.Done || !caller.inProcess() && !caller.Scopes.Has(parley.ScopeSend) {
		return now, err // who may only read settles nothing
	}
	got := o.brings()
	for _, m := range now.Answers {
		got.answers = append(got.answers, m.ID)
	}
	if now.Error == nil {
		got.failed = parley.Message{}
	}
	var who waiter
	err = h.view(context.WithoutCancel(ctx), caller, opAwaitOutcome, func(s *scene) error {
		who = s.waiter(caller)
		return nil
	})
	if err != nil {
		return now, err
	}
	return now, h.bring(ctx, who, got)
}

// bring is called when a call returns the content of messages to the participant that waited for them. It settles the
// callback, so that the participant gets the outcome once, and marks everything as shown to a person. If the caller has gone
// meanwhile, nothing changes: the outcome stays in the inbox.
func (h *Hub) bring(ctx context.Context, who waiter, got brought) error {
	messages := slices.DeleteFunc(slices.Concat(got.answers, []string{got.callback}), func(id string) bool { return id == "" })
	if got.failed.From == who.id {
		messages = append(messages, got.failed.ID)
	}
	switch {
	case ctx.Err() != nil || len(messages) == 0:
		return nil
	case who.person && h.shownInline(ctx, who.Caller, messages):
		return nil
	case got.callback == "":
		return nil
	}
	return h.settleCallback(ctx, got.callback, who.id)
}

func (h *Hub) awaitOutcome(ctx context.Context, caller Caller, o outcome, wait time.Duration) (now parley.Awaited, err error) {
	if o.waits != nil {
		release, err := h.blocked(ctx, caller, opAwaitOutcome, wait, o.waits)
		if err != nil {
			return now, err
		}
		defer release()
	}
	err = h.await(ctx, o.about, wait, func() (bool, error) {
		now, err = o.look(ctx)
		return now.Done, err
	})
	switch {
	case errors.Is(err, errWaited):
		return now, nil
	case err != nil && errors.Is(err, ctx.Err()):
		return now, h.explain(ctx, caller, err)
	default:
		return now, err
	}
}

// shortestNumberedPiece is the length from which on digits alone may be a piece of an id.
const shortestNumberedPiece = 6

// outcomeOf finds what an id stands for: a task, a message, or an approval.
func (h *Hub) outcomeOf(ctx context.Context, caller Caller, id string) (o outcome, err error) {
	kinds := []func(context.Context, Caller, string) (outcome, error){h.taskAwaited, h.messageAwaited, h.approvalAwaited}
	if len(id) < shortestNumberedPiece && strings.Trim(id, "0123456789") == "" {
		kinds = kinds[:1] // a number alone is a task
	}
	for _, find := range kinds {
		if o, err = find(ctx, caller, id); err == nil || parley.AsError(err).Reason != parley.NotFound {
			return o, err
		}
	}
	return o, parley.Errorf(parley.BadInput, "there is no message, task or approval %q", shortened(id)).Because(parley.NotFound).
		Suggest("check the id: parley task list, parley approval list, parley search")
}

// shortened keeps what a caller sent from filling an error.
func shortened(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return text
}

// taskAwaited is a task that somebody waits for.
func (h *Hub) taskAwaited(ctx context.Context, caller Caller, id string) (outcome, error) {
	first, err := h.Task(ctx, caller, id)
	if err != nil {
		return outcome{}, err
	}
	made := parley.Contacted{Task: first.ID, Message: first.Message, Conversation: first.Conversation}
	last := first.Task
	return outcome{
		about: first.ID,
		look: func(ctx context.Context) (now parley.Awaited, err error) {
			view, err := h.Task(ctx, caller, first.ID)
			last = view.Task
			now = parley.Awaited{ID: first.ID, Name: first.ID, Kind: parley.AwaitedTask, State: string(view.Status), Done: view.Status.Ended()}
			if err != nil || !now.Done {
				return now, err
			}
			return inWords(now)(failedContact(h.taskOutcome(ctx, view.Task, made)))
		},
		waits:  func(s *scene) ([]parley.Wait, error) { return s.endOf(made) },
		brings: func() brought { return brought{callback: last.Callback} },
	}, nil
}

// inWords adds to an ended outcome the text that its caller would have got.
func inWords(now parley.Awaited) func(parley.Contacted, error) (parley.Awaited, error) {
	return func(told parley.Contacted, err error) (parley.Awaited, error) {
		if failed, ok := errors.AsType[*parley.Error](err); ok && failed.Code != parley.Internal {
			now.Error, err = failed, nil
		}
		now.Text, now.Quotes = told.Text, told.Quotes
		return now, err
	}
}

// messageAwaited is the outcome of a message: its answers. A message that asks for a task stands for the task.
func (h *Hub) messageAwaited(ctx context.Context, caller Caller, id string) (outcome, error) {
	shown, err := h.Message(ctx, caller, id)
	if err != nil {
		return outcome{}, err
	}
	if shown.Type == parley.TypeTask && shown.Task != "" {
		if o, err := h.taskAwaited(ctx, caller, shown.Task); err == nil {
			return o, nil
		}
	}
	if isAsk(shown.Message) {
		var w parley.Wait
		err := h.view(ctx, caller, opAwaitOutcome, func(s *scene) (err error) {
			w, err = s.Waits().Ask(shown.ID)
			return ignoreNotFound(err)
		})
		if err != nil || w.ID != "" {
			return h.askAwaited(w, shown.ShortName()), err
		}
	}
	if !slices.ContainsFunc(shown.Deliveries, func(d parley.Delivery) bool { return d.Waking }) {
		return outcome{}, parley.Errorf(parley.BadInput, "message %s wakes nobody who could answer it", shown.ShortName()).
			Suggest("wait for a message that was sent to somebody")
	}
	return outcome{
		about:  shown.ID,
		look:   func(ctx context.Context) (parley.Awaited, error) { return h.answersOf(ctx, caller, shown.ID) },
		waits:  func(s *scene) ([]parley.Wait, error) { return s.answersTo(shown.ID) },
		brings: func() brought { return brought{failed: shown.Message} },
	}, nil
}

// askAwaited is an ask that somebody waits for: until it is answered, whether or not it is late by now.
func (h *Hub) askAwaited(w parley.Wait, name string) outcome {
	var last parley.Wait
	return outcome{
		about: w.ID,
		look: func(ctx context.Context) (parley.Awaited, error) {
			now := parley.Awaited{ID: w.Message, Name: name, Kind: parley.AwaitedAsk}
			made := parley.Contacted{Agent: w.Target, Conversation: w.Conversation, Message: w.Message}
			heard, err := h.hear(ctx, w)
			if errors.Is(err, errGone) {
				now.State, now.Done = string(parley.WaitFailed), true
				return inWords(now)(failedContact(made, h.conversationGone(ctx, parley.Wait{}, made)))
			}
			last = heard.Wait
			now.State, now.Done = string(heard.State), heard.State.Ended()
			if err != nil || !now.Done {
				return now, err
			}
			return inWords(now)(failedContact(heard.outcome(w, made)))
		},
		waits:  func(s *scene) ([]parley.Wait, error) { return s.answersTo(w.Message) },
		brings: func() brought { return brought{callback: last.Callback, answers: []string{last.Answer}} },
	}
}

// answersOf is the state of a message and its answers so far.
func (h *Hub) answersOf(ctx context.Context, caller Caller, id string) (now parley.Awaited, err error) {
	shown, err := h.Message(ctx, caller, id)
	if err != nil {
		return now, err
	}
	now = parley.Awaited{ID: id, Name: shown.ShortName(), Kind: parley.AwaitedMessage, State: string(parley.DeliveryAnswered), Done: true}
	var texts []string
	for _, d := range shown.Deliveries {
		switch {
		case !d.Waking:
		case d.Answer != "":
			answer, err := h.Message(ctx, caller, d.Answer)
			if err != nil {
				return now, err
			}
			now.Answers = append(now.Answers, answer.Message)
			texts = append(texts, spoken(answer.Content))
		default:
			if err := h.withoutAnswer(ctx, d, &now); err != nil {
				return now, err
			}
		}
	}
	if now.Done && now.Error == nil {
		now.Text = strings.Join(texts, "\n\n")
	}
	return now, nil
}

// withoutAnswer says of a delivery that has no answer how far it has come, or why none will come.
func (h *Hub) withoutAnswer(ctx context.Context, d parley.Delivery, now *parley.Awaited) error {
	return h.view(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) error {
		comes, err := s.answerMayCome(d)
		if now.State = string(d.State); err != nil || comes {
			now.Done = false
			return err
		}
		target, err := s.Agents().Find(d.Recipient)
		if now.Error == nil {
			now.Error = unanswered(target, d)
			if d.State == parley.DeliveryExpired {
				now.Error.Code = parley.TimedOut
			}
			now.Error.Message = now.Error.Sentence()
			now.Text = now.Error.Message
		}
		return err
	})
}

// answerMayCome says whether a delivery may still be answered: not by a run that has ended.
func (s *scene) answerMayCome(d parley.Delivery) (bool, error) {
	switch {
	case d.State != parley.DeliveryAcked:
		return !d.State.Settled() && d.State != parley.DeliveryDead, nil
	case d.Run == "":
		return true, nil
	}
	r, err := s.Runs().Get(d.Run)
	return err == nil && r.State.Live(), ignoreNotFound(err)
}

// approvalAwaited is an approval that somebody waits for: until the call was refused, or has returned.
func (h *Hub) approvalAwaited(ctx context.Context, caller Caller, id string) (outcome, error) {
	first, err := h.Approval(ctx, caller, id)
	if err != nil {
		return outcome{}, err
	}
	last := first
	return outcome{
		about: first.ID,
		look: func(ctx context.Context) (now parley.Awaited, err error) {
			last, err = h.Approval(ctx, caller, first.ID)
			now = parley.Awaited{ID: first.ID, Name: first.ShortName(), Kind: parley.AwaitedApproval, State: string(last.State)}
			if err != nil || last.State == parley.ApprovalPending || last.State == parley.ApprovalApproved {
				return now, err
			}
			now.Done = true
			return now, h.decided(ctx, last, &now)
		},
		brings: func() brought { return brought{callback: last.Outcome} },
	}, nil
}

// notMade are the states of approvals whose call is never made: denied, expired or withdrawn.
var notMade = map[parley.ApprovalState]parley.Code{
	parley.ApprovalDenied: parley.NotPermitted, parley.ApprovalExpired: parley.TimedOut, parley.ApprovalWithdrawn: parley.DependencyFailed,
}

// decided says what has come of a call that was approved or refused.
func (h *Hub) decided(ctx context.Context, a parley.Approval, now *parley.Awaited) error {
	code, refused := notMade[a.State]
	if !refused {
		now.Text, now.Error = a.Result, a.Failure
		return nil
	}
	return h.view(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) error {
		said, err := s.doing("Approval "+string(a.State)+" for ", a)
		now.Text = said.Text
		now.Error = parley.Errorf(code, "%s", now.Text)
		if a.Note != "" {
			now.Error.Suggestion = "note: " + a.Note
		}
		return err
	})
}

// Package outcomes holds waiting for what becomes of a message, an ask, a task or an approval, and long calls whose credential
// ends.
package outcomes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/decisions"
	"github.com/parley-hub/parley/internal/hub/delegation"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names      *names.Service
	delegation *delegation.Service
	reading    *reading.Service
	feed       *feed.Service
	decisions  *decisions.Service

	calls *longCalls
}

// Background returns the loops that end long calls whose credential has ended.
func Background(s *Service) []unit.Background {
	return []unit.Background{s.calls.follow, s.expireCalls}
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service, delegation *delegation.Service, reading *reading.Service, feed *feed.Service, decisions *decisions.Service) *Service {
	s := &Service{Core: core, names: names, delegation: delegation, reading: reading, feed: feed, decisions: decisions}
	s.calls = newLongCalls(s)
	return s
}

// awaitable is something that a caller can wait for.
type awaitable struct {
	about    string // the id that core.Await watches
	read     func(ctx context.Context) (parley.Awaited, error)
	blocksOn func(*unit.Unit) ([]parley.Wait, error) // returns the waits that block the caller; nil: none
	settles  func() unit.ReturnedMessages            // returns what the caller gets with an ended outcome, so that its callback can be settled
}

// AwaitOutcome waits until a message is answered, an ask or a task has ended, or an approval was decided and its call has
// returned. It returns the outcome. It returns at once if that has happened before. If the time is up, it returns the state so
// far. The caller must be allowed to read it. AwaitOutcome returns E003 if the id names nothing to wait for, and E005 if the
// wait would form a cycle.
//
// The caller gets the outcome once: AwaitOutcome settles its callback.
func (s *Service) AwaitOutcome(ctx context.Context, caller unit.Caller, id string, wait time.Duration) (now parley.Awaited, err error) {
	if wait < 0 {
		return now, parley.Errorf(parley.BadInput, "the wait is %s", wait).Suggest("wait 0s or longer")
	}
	o, err := s.findAwaitable(ctx, caller, id)
	if err != nil {
		return now, err
	}
	if now, err = o.read(ctx); err == nil && !now.Done && wait > 0 {
		now, err = awaitOutcome(ctx, s.Core, caller, o, wait)
	}
	if err != nil || !now.Done || !caller.InProcess() && !caller.Scopes.Has(parley.ScopeSend) {
		return now, err // a caller that may only read settles nothing
	}
	returned := o.settles()
	for _, m := range now.Answers {
		returned.Answers = append(returned.Answers, m.ID)
	}
	if now.Error == nil {
		returned.Failed = parley.Message{}
	}
	var waiter contact.Waiter
	err = s.View(context.WithoutCancel(ctx), caller, unit.OpAwaitOutcome, func(u *unit.Unit) error {
		waiter = contact.NewWaiter(u, caller)
		return nil
	})
	if err != nil {
		return now, err
	}
	return now, contact.SettleOutcome(ctx, s.Core, waiter, returned)
}

func awaitOutcome(ctx context.Context, core *unit.Core, caller unit.Caller, o awaitable, wait time.Duration) (now parley.Awaited, err error) {
	if o.blocksOn != nil {
		release, err := contact.BlockCaller(ctx, core, caller, unit.OpAwaitOutcome, wait, o.blocksOn)
		if err != nil {
			return now, err
		}
		defer release()
	}
	err = core.Await(ctx, o.about, wait, func() (bool, error) {
		now, err = o.read(ctx)
		return now.Done, err
	})
	switch {
	case errors.Is(err, unit.ErrWaited):
		return now, nil
	case err != nil && errors.Is(err, ctx.Err()):
		return now, core.Explain(ctx, caller, err)
	default:
		return now, err
	}
}

// findAwaitable finds the task, the message or the approval with an id.
func (s *Service) findAwaitable(ctx context.Context, caller unit.Caller, id string) (o awaitable, err error) {
	kinds := []func(context.Context, unit.Caller, string) (awaitable, error){s.awaitableTask, s.awaitableMessage, s.awaitableApproval}
	if len(id) < unit.MinPieceDigits && strings.Trim(id, "0123456789") == "" {
		kinds = kinds[:1] // a short number can only be a task
	}
	for _, find := range kinds {
		if o, err = find(ctx, caller, id); err == nil || parley.AsError(err).Reason != parley.NotFound {
			return o, err
		}
	}
	return o, parley.Errorf(parley.BadInput, "there is no message, task or approval %q", unit.Shortened(id)).Because(parley.NotFound).
		Suggest("check the id: parley task list, parley approval list, parley search")
}

// awaitableTask waits for the end of a task.
func (s *Service) awaitableTask(ctx context.Context, caller unit.Caller, id string) (awaitable, error) {
	first, err := s.delegation.Task(ctx, caller, id)
	if err != nil {
		return awaitable{}, err
	}
	contacted := parley.Contacted{Task: first.ID, Message: first.Message, Conversation: first.Conversation}
	last := first.Task
	return awaitable{
		about: first.ID,
		read: func(ctx context.Context) (now parley.Awaited, err error) {
			view, err := s.delegation.Task(ctx, caller, first.ID)
			last = view.Task
			now = parley.Awaited{ID: first.ID, Name: first.ID, Kind: parley.AwaitedTask, State: string(view.Status), Done: view.Status.Ended()}
			if err != nil || !now.Done {
				return now, err
			}
			return withText(now)(contact.WordFailure(contact.TaskOutcome(ctx, s.Core, view.Task, contacted)))
		},
		blocksOn: func(u *unit.Unit) ([]parley.Wait, error) { return contact.WaitForTaskEnd(u, contacted) },
		settles:  func() unit.ReturnedMessages { return unit.ReturnedMessages{Callback: last.Callback} },
	}, nil
}

// withText adds the text that the original caller would have got to an ended outcome.
func withText(now parley.Awaited) func(parley.Contacted, error) (parley.Awaited, error) {
	return func(contacted parley.Contacted, err error) (parley.Awaited, error) {
		if failed, ok := errors.AsType[*parley.Error](err); ok && failed.Code != parley.Internal {
			now.Error, err = failed, nil
		}
		now.Text, now.Quotes = contacted.Text, contacted.Quotes
		return now, err
	}
}

// awaitableMessage waits for the answers to a message. If the message requests a task, it waits for the end of the task.
func (s *Service) awaitableMessage(ctx context.Context, caller unit.Caller, id string) (awaitable, error) {
	shown, err := s.reading.Message(ctx, caller, id)
	if err != nil {
		return awaitable{}, err
	}
	if shown.Type == parley.TypeTask && shown.Task != "" {
		if o, err := s.awaitableTask(ctx, caller, shown.Task); err == nil {
			return o, nil
		}
	}
	if waits.IsAsk(shown.Message) {
		var w parley.Wait
		err := s.View(ctx, caller, unit.OpAwaitOutcome, func(u *unit.Unit) (err error) {
			w, err = u.Waits().Ask(shown.ID)
			return unit.IgnoreNotFound(err)
		})
		if err != nil || w.ID != "" {
			return awaitableAsk(s.Core, w, shown.ShortName()), err
		}
	}
	if !slices.ContainsFunc(shown.Deliveries, func(d parley.Delivery) bool { return d.Waking }) {
		return awaitable{}, parley.Errorf(parley.BadInput, "message %s wakes no participant that could answer it", shown.ShortName()).
			Suggest("name a message that has a recipient")
	}
	return awaitable{
		about:    shown.ID,
		read:     func(ctx context.Context) (parley.Awaited, error) { return s.answersTo(ctx, caller, shown.ID) },
		blocksOn: func(u *unit.Unit) ([]parley.Wait, error) { return contact.WaitsForAnswers(u, shown.ID) },
		settles:  func() unit.ReturnedMessages { return unit.ReturnedMessages{Failed: shown.Message} },
	}, nil
}

// awaitableAsk waits until an ask is answered or fails. An ask that is late can still be answered.
func awaitableAsk(core *unit.Core, w parley.Wait, name string) awaitable {
	var last parley.Wait
	return awaitable{
		about: w.ID,
		read: func(ctx context.Context) (parley.Awaited, error) {
			now := parley.Awaited{ID: w.Message, Name: name, Kind: parley.AwaitedAsk, From: w.Waiter}
			contacted := parley.Contacted{Agent: w.Target, Conversation: w.Conversation, Message: w.Message}
			outcome, err := contact.ReadAskOutcome(ctx, core, w)
			if errors.Is(err, unit.ErrGone) {
				now.State, now.Done = string(parley.WaitFailed), true
				return withText(now)(contact.WordFailure(contacted, contact.ConversationDeleted(ctx, core, parley.Wait{}, contacted)))
			}
			last = outcome.Wait
			now.State, now.Done = string(outcome.State), outcome.State.Ended()
			if err != nil || !now.Done {
				return now, err
			}
			return withText(now)(contact.WordFailure(outcome.Outcome(w, contacted)))
		},
		blocksOn: func(u *unit.Unit) ([]parley.Wait, error) { return contact.WaitsForAnswers(u, w.Message) },
		settles: func() unit.ReturnedMessages {
			return unit.ReturnedMessages{Callback: last.Callback, Answers: []string{last.Answer}}
		},
	}
}

// answersTo returns the state of a message and its answers so far.
func (s *Service) answersTo(ctx context.Context, caller unit.Caller, id string) (now parley.Awaited, err error) {
	shown, err := s.reading.Message(ctx, caller, id)
	if err != nil {
		return now, err
	}
	now = parley.Awaited{ID: id, Name: shown.ShortName(), Kind: parley.AwaitedMessage, State: string(parley.DeliveryAnswered), Done: true}
	var texts []string
	for _, d := range shown.Deliveries {
		switch {
		case !d.Waking:
		case d.Answer != "":
			answer, err := s.reading.Message(ctx, caller, d.Answer)
			if err != nil {
				return now, err
			}
			now.Answers = append(now.Answers, answer.Message)
			texts = append(texts, work.ContentText(answer.Content))
		default:
			if err := addUnanswered(ctx, s.Core, d, &now); err != nil {
				return now, err
			}
		}
	}
	if now.Done && now.Error == nil {
		now.Text = strings.Join(texts, "\n\n")
	}
	return now, nil
}

// addUnanswered adds a delivery without an answer to an outcome: its state, or why no answer will come.
func addUnanswered(ctx context.Context, core *unit.Core, d parley.Delivery, now *parley.Awaited) error {
	return core.View(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		comes, err := answerMayCome(u, d)
		if now.State = string(d.State); err != nil || comes {
			now.Done = false
			return err
		}
		target, err := u.Agents().Find(d.Recipient)
		if now.Error == nil {
			now.Error = work.UnansweredError(target, d)
			if d.State == parley.DeliveryExpired {
				now.Error.Code = parley.TimedOut
			}
			now.Error.Message = now.Error.Sentence()
			now.Text = now.Error.Message
		}
		return err
	})
}

// answerMayCome reports whether a delivery may still be answered. If its run has ended without an answer, it may not.
func answerMayCome(u *unit.Unit, d parley.Delivery) (bool, error) {
	switch {
	case d.State != parley.DeliveryAcked:
		return !d.State.Settled() && d.State != parley.DeliveryDead, nil
	case d.Run == "":
		return true, nil
	}
	r, err := u.Runs().Get(d.Run)
	return err == nil && r.State.Live(), unit.IgnoreNotFound(err)
}

// awaitableApproval waits until a call was refused or has returned.
func (s *Service) awaitableApproval(ctx context.Context, caller unit.Caller, id string) (awaitable, error) {
	first, err := s.decisions.Approval(ctx, caller, id)
	if err != nil {
		return awaitable{}, err
	}
	last := first
	return awaitable{
		about: first.ID,
		read: func(ctx context.Context) (now parley.Awaited, err error) {
			last, err = s.decisions.Approval(ctx, caller, first.ID)
			now = parley.Awaited{ID: first.ID, Name: first.ShortName(), Kind: parley.AwaitedApproval, State: string(last.State)}
			if err != nil || last.State == parley.ApprovalPending || last.State == parley.ApprovalApproved {
				return now, err
			}
			now.Done = true
			return now, addDecision(ctx, s.Core, last, &now)
		},
		settles: func() unit.ReturnedMessages { return unit.ReturnedMessages{Callback: last.Outcome} },
	}, nil
}

// refusalCodes has the approval states whose call is never made, with the error code for each.
var refusalCodes = map[parley.ApprovalState]parley.Code{
	parley.ApprovalDenied: parley.NotPermitted, parley.ApprovalExpired: parley.TimedOut, parley.ApprovalWithdrawn: parley.DependencyFailed,
}

// addDecision adds the result of a decided call to an outcome.
func addDecision(ctx context.Context, core *unit.Core, a parley.Approval, now *parley.Awaited) error {
	code, refused := refusalCodes[a.State]
	if !refused {
		now.Text, now.Error = a.Result, a.Failure
		return nil
	}
	return core.View(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		text, err := work.DescribeDoing(u, "Approval "+string(a.State)+" for ", a)
		now.Text = text.Text
		now.Error = parley.Errorf(code, "%s", now.Text)
		if a.Note != "" {
			now.Error.Suggestion = "note: " + a.Note
		}
		return err
	})
}

package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// sourceAsk is the source of an answer that was late.
const sourceAsk = "ask_result"

// shift takes a wait to another state. It is the only place where the state of a wait changes. edit sets what goes
// with it. Whoever waits looks again.
func (s *scene) shift(w *parley.Wait, to parley.WaitState, edit func(*parley.Wait)) error {
	if !w.State.May(to) {
		return parley.Errorf(parley.BadInput, "the wait for message %s is %s and cannot become %s", w.Message, w.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	after := *w
	if after.State = to; to != parley.WaitWaiting {
		after.Node = ""
	}
	if to.Ended() {
		after.EndedAt = &s.now
	}
	if edit != nil {
		edit(&after)
	}
	return s.keepWait(w, after)
}

// keepWait writes what a wait has become.
func (s *scene) keepWait(w *parley.Wait, after parley.Wait) error {
	err := s.Waits().Put(after)
	if err == nil {
		*w = after
		s.touch(w.ID)
	}
	return err
}

// block says that a run waits for somebody. It needs no slot while it does.
func (s *scene) block(r *parley.Run) error {
	if r == nil || r.State == parley.RunWaiting {
		return nil
	}
	if r.State == parley.RunStarting {
		if err := s.begin(r, r.Process); err != nil {
			return err
		}
	}
	return s.step(r, parley.RunWaiting, nil)
}

// unblock has a run go on, unless it waits for something else too.
func (s *scene) unblock(run string) error {
	if run == "" {
		return nil
	}
	left, err := s.Waits().Of(run)
	if err != nil {
		return err
	}
	for _, w := range left {
		if w.Node != "" {
			return nil
		}
	}
	r, lives, err := s.lives(run)
	if err != nil || !lives || r.State != parley.RunWaiting {
		return err
	}
	return s.step(&r, parley.RunRunning, nil)
}

// askEnded is called when the delivery of an ask has settled: that ends the ask, unless it is parked and this is no
// answer.
func (s *scene) askEnded(d parley.Delivery) error {
	w, err := s.Waits().Ask(d.Message)
	if errors.Is(err, parley.ErrNotFound) || err == nil && w.State.Ended() {
		return nil
	}
	if err != nil {
		return err
	}
	if d.State == parley.DeliveryAnswered {
		return s.endAsk(w, d.Answer, nil)
	}
	if w.Work != "" {
		return nil // it ends with its task
	}
	target, err := s.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return s.endAsk(w, "", unanswered(target, d))
}

// endAsk ends an ask with its answer, or with the reason why there is none. The asker stops waiting, or gets a callback if
// the ask was late.
func (s *scene) endAsk(w parley.Wait, answer string, failure *parley.Error) error {
	to, before := parley.WaitAnswered, w
	if failure != nil {
		to = parley.WaitFailed
	}
	if err := s.shift(&w, to, func(w *parley.Wait) { w.Answer, w.Failure = answer, failure }); err != nil {
		return err
	}
	awaited, err := s.awaits(before)
	switch {
	case err != nil || before.State == parley.WaitAbandoned:
		return err
	case !awaited && before.State == parley.WaitWaiting && w.Approval != "" && w.Run == "":
		return nil // the approval was withdrawn, and nobody else has asked
	case awaited:
		return s.waitOver(w, failure)
	default:
		return s.bringAnswer(w)
	}
}

// awaits says that somebody waits for an ask, who is not brought what comes of it: it is connected, or an approval.
func (s *scene) awaits(w parley.Wait) (bool, error) {
	if w.State != parley.WaitWaiting || w.Node != "" {
		return w.State == parley.WaitWaiting, nil
	}
	return s.approvalWaits(w)
}

// approvalWaits says that an ask was made because of an approval whose caller has not been told what came of it.
func (s *scene) approvalWaits(w parley.Wait) (bool, error) {
	if w.Approval == "" {
		return false, nil
	}
	a, err := s.Approvals().Get(w.Approval)
	return a.State == parley.ApprovalApproved, ignoreNotFound(err)
}

// waitOver tells all who wait for an ask what came of it: a run that is blocked, and the approval that it was made for.
// It may be both, where a call is made again that somebody has approved.
func (s *scene) waitOver(w parley.Wait, failure *parley.Error) error {
	if err := s.unblock(w.Run); err != nil || w.Approval == "" {
		return err
	}
	return s.approvedAskEnded(w, failure)
}

// bringAnswer brings what has come of an ask to whoever has not waited for it, once.
func (s *scene) bringAnswer(w parley.Wait) error {
	request, err := s.Messages().Get(w.Message)
	if err = ignoreNotFound(err); err != nil { // its id may be damaged
		return err
	}
	who, text, err := s.answerTo(w)
	if err != nil {
		return err
	}
	if text = responseFrom(who, text); w.Failure != nil {
		text = w.Failure.Sentence()
	}
	m, err := s.tellAsker(asked{w, request}, text)
	if err != nil {
		return err
	}
	after := w
	after.Callback = m.ID
	return s.keepWait(&w, after)
}

// asked is an ask with its request.
type asked struct {
	parley.Wait
	request parley.Message
}

// tellAsker tells whoever has made an ask what has come of it, where it has asked from.
func (s *scene) tellAsker(a asked, text string) (m parley.Message, err error) {
	c := callback{
		to: a.Waiter, conversation: a.Conversation, about: a.Target, source: sourceAsk, text: parley.Framed(a.Target, text),
		trace: a.request.TraceID, hops: a.request.Hops + 1, purpose: parley.PurposeCallback,
	}
	if a.Conversation == a.request.Conversation {
		c.inReplyTo = a.request.ID
	}
	if err := s.askedIn(a.Wait, &c); err != nil {
		return m, err
	}
	return s.callBack(c)
}

// askedIn gives a callback the task of the run that has asked, which may have been given one since, and the message
// that the run was to answer.
func (s *scene) askedIn(w parley.Wait, c *callback) error {
	c.task = w.Task
	if c.task == "" && w.Approval != "" && w.Run == "" {
		a, err := s.Approvals().Get(w.Approval)
		if c.task = a.Task; ignoreNotFound(err) != nil {
			return err
		}
	}
	r, err := s.Runs().Get(w.Run)
	if err != nil {
		return ignoreNotFound(err)
	}
	setDefault(&c.task, r.Task)
	about, err := s.answersWhat(r)
	if about.Conversation == c.conversation {
		c.inReplyTo = about.ID
	}
	return err
}

// tooLate ends the time of a wait, if it is not over.
func (s *scene) tooLate(w *parley.Wait) error { return s.late(w, w.Until) }

// late lets the asker go on; the answer will be delivered to it. Its time was up at the moment given.
func (s *scene) late(w *parley.Wait, until time.Time) error {
	if w.State != parley.WaitWaiting {
		return nil
	}
	if err := s.shift(w, parley.WaitLate, func(w *parley.Wait) { w.Until = until }); err != nil {
		return err
	}
	target, err := s.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return s.waitOver(*w, lateError(target.Name, *w))
}

// detach is called when whoever waits is not connected any more. Outside of a run the answer is brought to it when
// it comes. A run that goes on is brought it too; with one that ends its waits end. An approval waits on.
func (s *scene) detach(w *parley.Wait) error {
	if w.State != parley.WaitWaiting || w.Node == "" {
		return nil
	}
	waits, err := s.approvalWaits(*w)
	if err != nil {
		return err
	}
	if w.Run == "" && !waits {
		return s.tooLate(w)
	}
	after := *w
	after.Node = ""
	if err := s.keepWait(w, after); err != nil {
		return err
	}
	return s.unblock(w.Run)
}

// leave ends the waits of somebody who has ended. An ask that it goes without is abandoned, or is late, unless an
// approval waits for it too.
func (s *scene) leave(list []parley.Wait, asks parley.WaitState) error {
	for i := range list {
		w := &list[i]
		waits, err := s.approvalWaits(*w)
		switch {
		case err != nil:
		case !w.Ask:
			err = s.Waits().Erase(w.ID)
		case waits && w.Run != "":
			if err = s.detach(w); err == nil && asks == parley.WaitAbandoned { // only the approval waits on
				after := *w
				after.Run = ""
				err = s.keepWait(w, after)
			}
		default:
			err = s.shift(w, asks, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// freeWaits is called when a run has ended by any means: what it waited for nobody waits for any more. A run that has
// ended well has only not waited that long, as a program whose shell gives up early: it is brought the answer.
func (s *scene) freeWaits(r parley.Run) error {
	list, err := s.Waits().Of(r.ID)
	if err != nil {
		return err
	}
	if r.State == parley.RunSucceeded {
		return s.leave(list, parley.WaitLate)
	}
	return s.leave(list, parley.WaitAbandoned)
}

// freeWaitsOf is freeWaits for a participant that was removed.
func (s *scene) freeWaitsOf(a parley.Agent) error {
	list, err := s.Waits().By(a.ID)
	if err != nil {
		return err
	}
	return s.leave(list, parley.WaitAbandoned)
}

// whyRemoved is the reason for which an ask ends when its recipient is removed.
const whyRemoved = "removed"

// whyStopped is the reason for which an ask ends when its recipient is stopped.
const whyStopped = "stopped"

// whyAway is the reason for which an ask ends when its recipient goes away.
const whyAway = "went away"

// failAsks ends the open asks to an agent that cannot answer any more. What a run of it is at ends with the run.
func (s *scene) failAsks(a parley.Agent, why parley.Trouble) error {
	list, err := s.openAsks(a.ID)
	if err != nil {
		return err
	}
	for i := range list {
		_, runs, err := s.runOf(list[i])
		if err == nil && !runs {
			err = s.end(&list[i], parley.DeliveryFailed, failed(a.ID, why))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wentAway ends the open asks to an agent that has no session any more.
func (s *scene) wentAway(id string) error {
	a, err := s.Agents().Find(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && (a.RemovedAt != nil || a.Dispatched()) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.failAsks(a, parley.Trouble{Failure: parley.FailureLost, Reason: whyAway})
}

// asksIn are the asks in a conversation that somebody waits for, or is to be brought the answer to.
func (s *scene) asksIn(conversation string) (list []asked, err error) {
	waits, err := s.Waits().In(conversation)
	for _, w := range waits {
		if err != nil || !w.Ask || w.State == parley.WaitAbandoned {
			continue
		}
		var request parley.Message
		request, err = s.Messages().Get(w.Message)
		list = append(list, asked{w, request})
	}
	return list, err
}

// loseAsks tells those who wait for asks that these are gone with their conversation. Who is connected sees it.
func (s *scene) loseAsks(list []asked) error {
	for _, a := range list {
		if err := s.loseAsk(a); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) loseAsk(a asked) error {
	waiter, err := s.Agents().Find(a.Waiter)
	if err != nil || waiter.RemovedAt != nil {
		return err
	}
	target, err := s.Agents().Find(a.Target)
	if err != nil {
		return err
	}
	failure := lostError(target)
	awaited, err := s.awaits(a.Wait)
	if err != nil {
		return err
	}
	if awaited {
		return s.waitOver(a.Wait, failure)
	}
	if a.State == parley.WaitWaiting && a.Approval != "" && a.Run == "" {
		return nil
	}
	_, err = s.tellAsker(a, failure.Sentence())
	return err
}

// lostError is what the caller of an ask is told whose question was deleted with its conversation.
func lostError(target parley.Agent) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s failed to respond: the conversation was deleted", target.Name)
}

// SweepWaits ends the time of asks that nobody is connected for.
func (h *Hub) SweepWaits(ctx context.Context) error {
	return h.eachWait(ctx, func(s *scene, limit int) ([]parley.Wait, error) { return s.Waits().Due(s.now, limit) }, (*scene).tooLate)
}

// RecoverWaits detaches the waits of callers that were connected to a former process of this hub.
func (h *Hub) RecoverWaits(ctx context.Context) error {
	return h.eachWait(ctx, func(s *scene, limit int) ([]parley.Wait, error) {
		list, err := s.Waits().At(h.config.Node)
		return list[:min(limit, len(list))], err
	}, (*scene).recoverWait)
}

func (s *scene) recoverWait(w *parley.Wait) error {
	if w.Ask {
		return s.detach(w)
	}
	if err := s.Waits().Erase(w.ID); err != nil {
		return err
	}
	return s.unblock(w.Run)
}

// eachWait does something to all waits that find returns, in small updates. While there are none it only reads.
func (h *Hub) eachWait(ctx context.Context, find func(*scene, int) ([]parley.Wait, error), do func(*scene, *parley.Wait) error) error {
	for {
		var list []parley.Wait
		err := h.view(ctx, theHub, opItself, func(s *scene) (err error) {
			list, err = find(s, 1)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = h.write(ctx, theHub, opItself, func(s *scene) (err error) {
			list, err = find(s, dueBatch)
			for i := range list {
				if err == nil {
					err = do(s, &list[i])
				}
			}
			return err
		})
		if err != nil || len(list) < dueBatch {
			return err
		}
	}
}

package post

import (
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
)

// withoutAsker removes the asker from the recipients if the message answers an open ask: the asker gets the answer through the ask. It
// returns that ask, or nil. The final text of a run reaches no asker anyway: see waitersFor.
func withoutAsker(u *unit.Unit, p Posting, m parley.Message, parent *parley.Message, audience []parley.NewDelivery) ([]parley.NewDelivery, *parley.Wait, error) {
	w, open, err := openAskOf(u, p, m, parent)
	if err != nil || !open || w.Waiter == m.From {
		return audience, nil, err
	}
	return slices.DeleteFunc(audience, func(r parley.NewDelivery) bool { return r.Agent == w.Waiter }), &w, nil
}

// noteAsk tells the sender of an answer what it did to the ask, which was open before.
func noteAsk(u *unit.Unit, ask parley.Wait, receipt *parley.Receipt) error {
	now, err := u.Waits().Ask(ask.Message)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	notice := fmt.Sprintf("%s gets this as the answer to its ask", now.Waiter)
	switch {
	case !now.State.Ended() && now.AnswerTask != "":
		notice = fmt.Sprintf("%s still waits for the answer to its ask, which is the end of %s", now.Waiter, now.AnswerTask)
	case !now.State.Ended():
		notice = fmt.Sprintf("%s still waits for the answer to its ask", now.Waiter)
	case now.Callback != "":
		notice = fmt.Sprintf("%s was told: the answer to its ask was late, and went to it as a callback", now.Waiter)
	case ask.State == parley.WaitAbandoned:
		notice = fmt.Sprintf("nobody waits for this answer any more: the run of %s that asked has ended", now.Waiter)
	}
	receipt.Asker, receipt.Notices = now.Waiter, append(receipt.Notices, notice)
	return nil
}

// noteFailedAsk tells the sender of a reply to an ask that the ask failed before, so that the reply is no answer any more.
func noteFailedAsk(u *unit.Unit, p Posting, m parley.Message, parent *parley.Message, receipt *parley.Receipt) error {
	if p.runAnswer || parent == nil || !waits.IsAsk(*parent) {
		return nil
	}
	w, err := u.Waits().Ask(parent.ID)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	if w.State == parley.WaitFailed && w.Waiter != m.From {
		receipt.Notices = append(receipt.Notices, fmt.Sprintf("the ask of %s failed before this reply; %s gets it as a message", w.Waiter, w.Waiter))
	}
	return nil
}

// openAskOf returns the open ask that a message may answer: the ask that it replies to, or the ask that its task answers. The final
// text of a run has none.
func openAskOf(u *unit.Unit, p Posting, m parley.Message, parent *parley.Message) (w parley.Wait, open bool, err error) {
	switch {
	case p.runAnswer:
		return w, false, nil
	case parent != nil && waits.IsAsk(*parent):
		w, err = u.Waits().Ask(parent.ID)
		return w, err == nil && !w.State.Ended(), unit.IgnoreNotFound(err)
	case m.Task != "" && !p.Request:
		return work.AskOf(u, m.Task)
	case parent != nil && parent.From == parley.System && p.By != nil && p.By.Task == parent.Task:
		return work.AskOf(u, parent.Task)
	default:
		return w, false, nil
	}
}

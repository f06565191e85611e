package contact

import (
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
)

// storeAsk posts a question and stores the wait for its answer. From then on the asking run is blocked.
func storeAsk(u *unit.Unit, o unit.Origin, target parley.Agent, c Prepared) (contacted parley.Contacted, w *parley.Wait, err error) {
	until, err := askDeadline(u, c.Contact)
	if err != nil {
		return contacted, nil, err
	}
	depth, err := askDepth(u, o)
	if err != nil {
		return contacted, nil, err
	}
	if limit := u.Core.Config.Asks.Depth; depth >= limit {
		return contacted, nil, parley.Errorf(parley.DependencyFailed,
			"Maximum agent communication depth (%d) reached. Use 'delegate' for async to avoid nesting.", limit)
	}
	if err := waits.MayWait(u, o, target, ""); err != nil {
		return contacted, nil, err
	}
	if err := work.CheckSlots(u, target); err != nil {
		return contacted, nil, err
	}
	session, err := targetSession(u, target, c.Contact)
	if err != nil {
		return contacted, nil, err
	}
	r, err := postRequest(u, o, target, c, "")
	if err == nil && c.Session != "" {
		err = keepForSession(u, r, target, session)
	}
	if err != nil {
		return contacted, nil, err
	}
	w = &parley.Wait{
		ID: unit.NewID(), Message: r.Message.ID, Waiter: u.Me.ID, Target: target.ID, Ask: true, Depth: depth, State: parley.WaitWaiting,
		Conversation: r.Message.Conversation, Since: u.Now, Until: until,
	}
	attachWaiter(u, w, o)
	if err := waits.InsertRow(u.Tx, *w); err != nil {
		return contacted, nil, err
	}
	contacted = askResult(target, r.Message)
	contacted.Notices = r.Notices
	return contacted, w, work.Block(u, o.Run)
}

// resumeAsk waits again for an ask that was made before. The first deadline stays: a repeated call does not extend it. If the
// call was approved in the meantime, its time begins with the approval.
func resumeAsk(u *unit.Unit, o unit.Origin, target parley.Agent, c parley.Contact, m parley.Message) (parley.Contacted, *parley.Wait, error) {
	contacted := askResult(target, m)
	w, err := u.Waits().Ask(m.ID)
	if errors.Is(err, parley.ErrNotFound) {
		return contacted, nil, unit.Unknown{Noun: "message", Name: m.ID}
	}
	if err != nil || w.State.Ended() {
		return contacted, &w, err
	}
	since, until := w.Since, w.Until
	if o.Approved != nil && w.State != parley.WaitWaiting {
		since = u.Now
		until, err = askDeadline(u, c)
	}
	if err == nil {
		err = waits.MayWait(u, o, target, m.ID)
	}
	if err == nil && o.Approved != nil && w.Approval != "" { // only one approval can carry the answer
		err = work.ApprovedAskEnded(u, w, errAskedAgain(target))
	}
	if err != nil {
		return contacted, nil, err
	}
	goOn := func(w *parley.Wait) {
		attachWaiter(u, w, o)
		w.Since, w.Until = since, until
	}
	if w.State == parley.WaitWaiting {
		after := w
		goOn(&after)
		err = waits.Save(u, &w, after)
	} else {
		err = waits.SetState(u, &w, parley.WaitWaiting, goOn)
	}
	if err != nil {
		return contacted, nil, err
	}
	return contacted, &w, work.Block(u, o.Run)
}

// errAskedAgain is the result of an approved ask if another ask with the same key was approved after it.
func errAskedAgain(target parley.Agent) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s got the same question in a later ask, and its answer goes to the later ask", target.Name).
		Suggest("read the answer to the later ask, or ask with another idempotency key")
}

// attachWaiter stores in a wait who waits from now on: the caller's run, its connection to this process, or its approval.
func attachWaiter(u *unit.Unit, w *parley.Wait, o unit.Origin) {
	switch {
	case o.Approved != nil:
		w.Approval, w.Task = o.Approved.ID, o.Approved.Task
		if o.Approved.Conversation != "" {
			w.Conversation = o.Approved.Conversation
		}
	case o.Run != nil:
		w.Run, w.Conversation, w.Task, w.Node = o.Run.ID, o.Run.Conversation, o.Run.Task, u.Core.Config.Node
	default:
		w.Node = u.Core.Config.Node
	}
}

// askDeadline returns when an ask becomes late: after its wait, or at its deadline if that is earlier.
func askDeadline(u *unit.Unit, c parley.Contact) (time.Time, error) {
	wait := c.Wait
	unit.SetDefault(&wait, u.Core.Config.Asks.Wait)
	until := u.Now.Add(wait)
	due, err := messages.Deadline(u, parley.Draft{Deadline: c.Deadline})
	if due != nil && due.Before(until) {
		until = *due
	}
	return until, err
}

// askDepth returns how many asks an ask of the caller is nested in. A caller that names no run counts as answering its deepest
// open ask.
func askDepth(u *unit.Unit, o unit.Origin) (deepest int, err error) {
	switch {
	case o.Run != nil:
		return o.Run.Depth, nil
	case o.Approved != nil && o.Approved.Run != "":
		return o.Approved.Depth, nil
	case u.Me.Kind != parley.KindAgent:
		return 0, nil
	}
	list, err := waits.OpenAsks(u, u.Me.ID)
	for _, d := range list {
		if err == nil {
			var depth int
			depth, err = answererDepth(u, d)
			deepest = max(deepest, depth)
		}
	}
	if err != nil {
		return 0, err
	}
	parked, err := u.Waits().Parked(u.Me.ID)
	for _, w := range parked {
		deepest = max(deepest, w.Depth+1)
	}
	return deepest, err
}

// answererDepth returns the depth of asks that the recipient of an ask makes.
func answererDepth(u *unit.Unit, d parley.Delivery) (int, error) {
	w, err := u.Waits().Ask(d.Message)
	if errors.Is(err, parley.ErrNotFound) {
		return 1, nil
	}
	return w.Depth + 1, err
}

func askResult(target parley.Agent, m parley.Message) parley.Contacted {
	return parley.Contacted{Agent: target.ID, Conversation: m.Conversation, Message: m.ID, Seq: m.Seq}
}

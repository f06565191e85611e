package hub

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Asks bound what it is to ask somebody. The zero value of a field means its default.
type Asks struct {
	Wait  time.Duration // for the answer; default: 120 s
	Slots int           // open asks to one agent; default: 16
	Depth int           // asks that are nested in each other; default: 3
}

func (a Asks) withDefaults() Asks {
	setDefault(&a.Wait, parley.AskWait)
	setDefault(&a.Slots, 16)
	setDefault(&a.Depth, 3)
	return a
}

// longestWait keeps a mistake from holding a call for ever.
const longestWait = 24 * time.Hour

// ask posts a question and the wait for its answer. The run that asks is blocked from here on.
func (s *scene) ask(o origin, target parley.Agent, c parley.Contact) (made parley.Contacted, w *parley.Wait, err error) {
	until, err := s.askUntil(c)
	if err != nil {
		return made, nil, err
	}
	depth, err := s.depth(o)
	if err != nil {
		return made, nil, err
	}
	if most := s.hub.config.Asks.Depth; depth >= most {
		return made, nil, parley.Errorf(parley.DependencyFailed,
			"Maximum agent communication depth (%d) reached. Use 'delegate' for async to avoid nesting.", most)
	}
	if err := s.mayWait(o, target, ""); err != nil {
		return made, nil, err
	}
	if err := s.checkSlots(target); err != nil {
		return made, nil, err
	}
	r, err := s.request(o, target, c, "")
	if err != nil {
		return made, nil, err
	}
	w = &parley.Wait{
		ID: newID(), Message: r.Message.ID, Waiter: s.me.ID, Target: target.ID, Ask: true, Depth: depth, State: parley.WaitWaiting,
		Conversation: r.Message.Conversation, Since: s.now, Until: until,
	}
	s.attach(w, o)
	if err := s.Waits().Insert(*w); err != nil {
		return made, nil, err
	}
	made = askMade(target, r.Message)
	made.Notices = r.Notices
	return made, w, s.block(o.run)
}

// askAgain goes on waiting for an ask that was made before, until its first deadline: a repeated call does not extend it.
// If the call was approved meanwhile, its time begins with the approval.
func (s *scene) askAgain(o origin, target parley.Agent, c parley.Contact, m parley.Message) (parley.Contacted, *parley.Wait, error) {
	made := askMade(target, m)
	w, err := s.Waits().Ask(m.ID)
	if errors.Is(err, parley.ErrNotFound) {
		return made, nil, unknown{"message", m.ID}
	}
	if err != nil || w.State.Ended() {
		return made, &w, err
	}
	since, until := w.Since, w.Until
	if o.approved != nil && w.State != parley.WaitWaiting {
		since = s.now
		until, err = s.askUntil(c)
	}
	if err == nil {
		err = s.mayWait(o, target, m.ID)
	}
	if err == nil && o.approved != nil && w.Approval != "" { // only one approval can wait for it
		err = s.approvedAskEnded(w, askedTwice(target))
	}
	if err != nil {
		return made, nil, err
	}
	goOn := func(w *parley.Wait) {
		s.attach(w, o)
		w.Since, w.Until = since, until
	}
	if w.State == parley.WaitWaiting {
		after := w
		goOn(&after)
		err = s.keepWait(&w, after)
	} else {
		err = s.shift(&w, parley.WaitWaiting, goOn)
	}
	if err != nil {
		return made, nil, err
	}
	return made, &w, s.block(o.run)
}

// askedTwice is what an approved ask comes to where another one with the same key was approved after it.
func askedTwice(target parley.Agent) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s was asked the same once more, and the answer goes there", target.Name).
		Suggest("look there, or ask with another key")
}

// attach says who waits from now on: whoever has made the call. That of an approval nobody waits at.
func (s *scene) attach(w *parley.Wait, o origin) {
	switch {
	case o.approved != nil:
		w.Approval, w.Task = o.approved.ID, o.approved.Task
		if o.approved.Conversation != "" {
			w.Conversation = o.approved.Conversation
		}
	case o.run != nil:
		w.Run, w.Conversation, w.Task, w.Node = o.run.ID, o.run.Conversation, o.run.Task, s.hub.config.Node
	default:
		w.Node = s.hub.config.Node
	}
}

// askUntil is when an ask becomes late: after the time it waits, or at its deadline.
func (s *scene) askUntil(c parley.Contact) (time.Time, error) {
	wait := c.Wait
	setDefault(&wait, s.hub.config.Asks.Wait)
	until := s.now.Add(wait)
	due, err := s.deadline(parley.Draft{Deadline: c.Deadline})
	if due != nil && due.Before(until) {
		until = *due
	}
	return until, err
}

// depth is how many asks an ask of the caller is nested in. Who names no run is taken to be at its deepest open ask.
func (s *scene) depth(o origin) (deepest int, err error) {
	switch {
	case o.run != nil:
		return o.run.Depth, nil
	case o.approved != nil && o.approved.Run != "":
		return o.approved.Depth, nil
	case s.me.Kind != parley.KindAgent:
		return 0, nil
	}
	list, err := s.openAsks(s.me.ID)
	for _, d := range list {
		if err == nil {
			var depth int
			depth, err = s.depthOf(d)
			deepest = max(deepest, depth)
		}
	}
	if err != nil {
		return 0, err
	}
	parked, err := s.Waits().Parked(s.me.ID)
	for _, w := range parked {
		deepest = max(deepest, w.Depth+1)
	}
	return deepest, err
}

// depthOf is the depth of whoever answers an ask.
func (s *scene) depthOf(d parley.Delivery) (int, error) {
	w, err := s.Waits().Ask(d.Message)
	if errors.Is(err, parley.ErrNotFound) {
		return 1, nil
	}
	return w.Depth + 1, err
}

// mostAsks is more than there may be open to one agent.
const mostAsks = 10_000

// openAsks are the asks that somebody has not answered yet.
func (s *scene) openAsks(to string) ([]parley.Delivery, error) {
	list, err := s.Queue().Ready(parley.Queue{Recipient: to, Wakes: true, Urgent: true, Purpose: parley.PurposeAsk, Limit: mostAsks})
	if err != nil {
		return nil, err
	}
	held, err := s.Queue().Held(to, 0, mostAsks)
	for _, d := range held {
		if d.Purpose == parley.PurposeAsk {
			list = append(list, d)
		}
	}
	return list, err
}

// checkSlots refuses an ask to an agent that has too many already.
func (s *scene) checkSlots(target parley.Agent) error {
	if target.Kind != parley.KindAgent {
		return nil
	}
	if err := s.mayPark(target.ID); err != nil {
		return err
	}
	open, err := s.Queue().Asked(target.ID)
	if most := s.hub.config.Asks.Slots; err == nil && open >= most {
		return parley.Errorf(parley.Unavailable, "%s has %d asks to answer already and takes no more. Ask again later, or use 'delegate' for async processing.",
			target.Name, open)
	}
	return err
}

// isAsk says whether a message is the request of an ask.
func isAsk(m parley.Message) bool { return m.Source == sourceContact && m.Type == parley.TypeRequest }

func askMade(target parley.Agent, m parley.Message) parley.Contacted {
	return parley.Contacted{Agent: target.ID, Conversation: m.Conversation, Message: m.ID, Seq: m.Seq}
}

// lateError is what the caller of an ask is told when its time is up.
func lateError(target string, w parley.Wait) *parley.Error {
	seconds := strconv.FormatFloat(w.Until.Sub(w.Since).Seconds(), 'f', -1, 64)
	return parley.Errorf(parley.TimedOut, "%s did not respond within %s seconds. Consider using 'delegate' for async processing."+
		" The answer will be delivered when it comes.", target, seconds)
}

// unanswered is why the caller of an ask gets no answer to it, if it gets none.
func unanswered(target parley.Agent, d parley.Delivery) *parley.Error {
	return failedToRespond(target, reasonOf(d))
}

func failedToRespond(target parley.Agent, why string) *parley.Error {
	code := parley.DependencyFailed
	if slices.Contains([]string{whyRemoved, whyStopped, whyAway}, why) {
		code = parley.Unavailable
	}
	return parley.Errorf(code, "%s failed to respond: %s", target.Name, why)
}

// noAnswer is the reason of a failed ask whose answerer ended without an answer.
const noAnswer = "it gave no answer"

// reasonOf is why a delivery has ended without an answer, in a few words.
func reasonOf(d parley.Delivery) string {
	if d.Failure == nil {
		return noAnswer
	}
	return reason(d.Failure, d.Recipient)
}

// reason is why somebody has failed, without its name.
func reason(cause *parley.Error, who string) string {
	if cause.Reason == parley.Gone {
		return whyRemoved
	}
	return (&parley.Error{Message: strings.TrimPrefix(cause.Message, who+didNot)}).Plain()
}

// spoken is a message in words, whatever it is made of.
func spoken(c parley.Content) string {
	parts := []string{}
	for _, part := range []string{c.Text, c.Code} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	for _, a := range c.Artifacts {
		name := a.Name
		setDefault(&name, a.Path)
		setDefault(&name, a.SHA256)
		parts = append(parts, "[artifact: "+name+"]")
	}
	return strings.Join(parts, "\n\n")
}

func responseFrom(target parley.Agent, text string) string {
	return "Response from " + target.Name + ": " + text
}

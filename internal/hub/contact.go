package hub

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// sourceContact is the source of the messages by which participants turn to each other.
const sourceContact = parley.SourceContact

// Contact turns to another participant for the caller: it asks, delegates or notifies. *parley.Held if that needs
// an approval first.
func (h *Hub) Contact(ctx context.Context, caller Caller, c parley.Contact) (parley.Contacted, error) {
	return h.ContactTelling(ctx, caller, c, func(parley.Contacted, time.Duration) {})
}

// ContactTelling is Contact for a caller that wants to know the stored request before the call waits. It calls made once, with
// the request (and its task) and with the longest wait. A call that does not wait does not call made.
func (h *Hub) ContactTelling(ctx context.Context, caller Caller, c parley.Contact, made func(parley.Contacted, time.Duration)) (parley.Contacted, error) {
	told, err := h.contact(ctx, caller, c, made)
	return failedContact(told, err)
}

func (h *Hub) contact(ctx context.Context, caller Caller, c parley.Contact, tell func(parley.Contacted, time.Duration)) (parley.Contacted, error) {
	c, err := h.checkContact(ctx, caller, opContact, c)
	if err != nil {
		return parley.Contacted{}, err
	}
	var (
		made    parley.Contacted
		w       *parley.Wait
		who     waiter
		unknown []string // names mentioned that nobody has
	)
	began := time.Now()
	err = h.update(ctx, caller, opContact, func(s *scene) error {
		who = s.waiter(caller)
		o, err := s.origin(caller)
		if err == nil {
			made, w, err = s.contact(o, c)
		}
		unknown = s.unknown
		return err
	})
	if err == nil {
		h.wrote(began)
		made.UnknownMentions, made.Notices = unknown, append(made.Notices, h.aboutUnknown(ctx, unknown)...)
	}
	if errors.Is(err, errTooManyHops) {
		h.tellHops(ctx, caller, parley.AsError(err))
	}
	switch {
	case err != nil:
		c.Agent = heldTarget(err, c.Agent)
		return parley.Contacted{}, h.heldOr(ctx, caller, err, toolContact, c.WithoutCallKey())
	case w != nil:
		stored := made
		stored.Text, stored.Outcome = "Waiting for the answer.", parley.ContactWaiting
		tell(stored, w.Until.Sub(h.now()))
		return h.awaitAnswer(ctx, who, *w, made)
	case made.Task != "" && c.Wait > 0:
		tell(made, c.Wait)
		return h.awaitTask(ctx, who, made, c.Wait)
	default:
		return made, nil
	}
}

// failedContact gives a contact that failed because of the other participant its sentence: "Error: DataBot did not respond …".
// That sentence is the message of the error and the text of the contact. Mistakes of the caller itself (E001, E003), and
// failures for other reasons, keep their sentences.
func failedContact(told parley.Contacted, err error) (parley.Contacted, error) {
	_, held := errors.AsType[*parley.Held](err)
	why, known := errors.AsType[*parley.Error](err)
	if held || !known {
		return told, err
	}
	shown := *why
	switch shown.Code {
	case parley.Unavailable, parley.TimedOut, parley.DependencyFailed:
		if shown.Reason == "" {
			shown.Message = why.Sentence()
		}
	}
	if told.Message != "" {
		told.Text = shown.Sentence()
	}
	return told, &shown
}

// checkContact says what is wrong with a contact as far as that can be known outside an update, or returns it with
// its defaults.
func (h *Hub) checkContact(ctx context.Context, caller Caller, do op, c parley.Contact) (parley.Contact, error) {
	if err := checkPattern(c); err != nil {
		return c, err
	}
	draft, err := parley.Draft{
		Direct: []string{c.Agent}, Priority: c.Priority, IdempotencyKey: c.IdempotencyKey,
		Content: parley.Content{Text: c.Request(parley.Agent{}, ""), Artifacts: c.Artifacts},
	}.Check(h.config.Limits)
	if err != nil {
		return c, err
	}
	if c.After, err = h.findNeeded(ctx, caller, do, c.After); err != nil {
		return c, err
	}
	c.Priority = draft.Priority
	c.Artifacts, err = h.sizeArtifacts(ctx, caller, do, draft)
	return c, err
}

func checkPattern(c parley.Contact) error {
	bad := func(what, hint string) error { return parley.Errorf(parley.BadInput, "%s", what).Suggest("%s", hint) }
	delegates := c.Pattern == parley.PatternDelegate
	switch {
	case c.Pattern != parley.PatternAsk && c.Pattern != parley.PatternNotify && !delegates:
		return parley.Errorf(parley.BadInput, "unknown action %q", c.Pattern).Suggest("use ask, delegate or notify")
	case c.Agent == "":
		return bad("nobody is to be contacted", "name an agent, or a person")
	case strings.TrimSpace(c.Message) == "":
		return bad("the message is empty", "say what is wanted")
	case c.Priority.Given() && !delegates:
		return bad("only delegate takes a priority", "leave it out, or delegate")
	case len(c.After) > 0 && !delegates:
		return bad("only delegate can wait for other tasks", "leave after out, or delegate")
	case c.Pattern == parley.PatternNotify && (c.Deadline != nil || c.Wait != 0):
		return bad("nobody answers a notification", "leave deadline and wait out, or ask")
	case c.Wait < 0 || c.Wait > longestWait:
		return parley.Errorf(parley.BadInput, "the wait is %s", c.Wait).Suggest("wait 0s to %s", longestWait)
	default:
		return nil
	}
}

// origin is what a call comes from: a run, or a participant outside of one; and the approval it was given, if it
// needed one.
type origin struct {
	caller   Caller
	run      *parley.Run      // live, and the caller's own
	call     string           // the digest of a contact that it makes
	approved *parley.Approval // it is made now because this was approved
	work     work             // what more is said of a task it makes
}

// origin finds the run that a caller is, if it is one. E003, conflict, if it is over.
func (s *scene) origin(caller Caller) (origin, error) {
	o := origin{caller: caller}
	if caller.Run == "" {
		return o, nil
	}
	r, err := s.ownRun(caller.Run)
	o.run = &r
	return o, err
}

// hops is how long the chain of automatic messages is that a call of this origin makes longer.
func (o origin) hops() int {
	switch {
	case o.run != nil:
		return o.run.Hops
	case o.approved != nil:
		return o.approved.Hops
	default:
		return 0
	}
}

// contact makes a contact inside an update, up to the point where an ask would wait: its wait is returned then.
func (s *scene) contact(o origin, c parley.Contact) (made parley.Contacted, w *parley.Wait, err error) {
	if o.run != nil {
		if o.call, err = s.contactDigest(c); err != nil {
			return made, nil, err
		}
	}
	if first, found, err := s.contactedBefore(o, c); err != nil {
		return made, nil, err
	} else if found {
		return s.contactAgain(o, c, first.Message)
	}
	target, err := s.agent(c.Agent)
	switch {
	case err != nil:
		return made, nil, err
	case target.ID == s.me.ID:
		return made, nil, parley.Errorf(parley.BadInput, "%s cannot contact itself", s.me.ID).Suggest("name another participant")
	case target.Kind == parley.KindSystem:
		return made, nil, toSystem(target.ID)
	}
	if err := s.mayCall(o, target); err != nil {
		return made, nil, err
	}
	if err := s.checkHops(o); err != nil {
		return made, nil, err
	}
	if err := s.mustReach(target); err != nil {
		return made, nil, err
	}
	if err := s.available(target, c.Pattern); err != nil {
		return made, nil, err
	}
	switch c.Pattern {
	case parley.PatternAsk:
		return s.ask(o, target, c)
	case parley.PatternDelegate:
		if c.Wait > 0 {
			if err := s.mayWait(o, target, ""); err != nil {
				return made, nil, err
			}
		}
		if made, err = s.delegate(o, target, c); err == nil && c.Wait > 0 {
			err = s.mayWait(o, target, made.Message) // if not, nothing of it is stored
		}
	default:
		made, err = s.leaveNote(o, target, c)
	}
	return made, nil, err
}

// leaveNote is notify: it stores a message, and wakes nobody.
func (s *scene) leaveNote(o origin, target parley.Agent, c parley.Contact) (parley.Contacted, error) {
	r, err := s.request(o, target, c, "")
	made := notified(target, r.Message)
	made.Notices = r.Notices
	return made, err
}

func notified(target parley.Agent, m parley.Message) parley.Contacted {
	says := parley.Own("Notification sent to ").Name(target.ID, target.Name).Own(".")
	return parley.Contacted{
		Text: says.Text, Quotes: says.Quotes, Outcome: parley.ContactNotified, Agent: target.ID, Conversation: m.Conversation, Message: m.ID, Seq: m.Seq,
	}
}

// delegated is what the caller of a delegation is told.
func delegated(target parley.Agent, m parley.Message, task string) parley.Contacted {
	says := parley.Own("Delegated to ").Name(target.ID, target.Name).Own(" (subtask "+task+"). You'll receive the result automatically when ").
		Name(target.ID, target.Name).Own(" finishes.")
	return parley.Contacted{
		Text: says.Text, Quotes: says.Quotes,
		Outcome: parley.ContactDelegated, Agent: target.ID, Conversation: m.Conversation, Message: m.ID, Seq: m.Seq, Task: task,
	}
}

// requests is as what each pattern's request is sent.
var requests = map[parley.Pattern]struct {
	kind    parley.Type
	purpose parley.Purpose
}{
	parley.PatternAsk:      {parley.TypeRequest, parley.PurposeAsk},
	parley.PatternDelegate: {parley.TypeTask, parley.PurposeTask},
	parley.PatternNotify:   {kind: parley.TypeNotification},
}

// request posts the message by which the caller turns to another participant: in their DM, for a purpose.
func (s *scene) request(o origin, target parley.Agent, c parley.Contact, task string) (parley.Receipt, error) {
	as := requests[c.Pattern]
	p := post{
		draft: parley.Draft{
			Direct: []string{target.ID}, To: target.ID, Type: as.kind, Priority: c.Priority, IdempotencyKey: c.IdempotencyKey,
			Content: parley.Content{Text: c.Request(s.me, task), Artifacts: c.Artifacts},
		},
		source: sourceContact, purpose: as.purpose, request: true, task: task, by: o.run, hops: o.hops(),
		trace: o.caller.Trace,
	}
	if o.approved != nil {
		p.inherits = o.approved.TraceID
	}
	if o.run != nil {
		p.run, p.call = o.run.ID, o.call
	}
	if err := p.compose(); err != nil {
		return parley.Receipt{}, err
	}
	return s.post(p)
}

// contactDigest tells one contact from another, whatever its target is called by. The request will not do: it names
// its task.
func (s *scene) contactDigest(c parley.Contact) (string, error) {
	target, err := s.findAgent(c.Agent)
	if err == nil {
		c.Agent = target.ID
	} else if !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	return callDigest(c.WithoutCallKey())
}

// contactedBefore is the request of the same contact, if it was made before: with the same key, or by an earlier
// attempt of the run.
func (s *scene) contactedBefore(o origin, c parley.Contact) (first parley.Receipt, found bool, err error) {
	if first, found, err = s.posted(c.IdempotencyKey); found || err != nil || o.run == nil {
		return first, found, err
	}
	return s.repeated(*o.run, o.call)
}

// contactAgain is what has come of a contact that was made before. An ask that is still open is waited for again.
func (s *scene) contactAgain(o origin, c parley.Contact, m parley.Message) (made parley.Contacted, w *parley.Wait, err error) {
	target, err := s.Agents().Find(m.To)
	named, otherwise := s.findAgent(c.Agent)
	if err = errors.Join(err, otherwise); err != nil || named.ID != target.ID || m.Source != sourceContact || m.Type != requests[c.Pattern].kind {
		return made, nil, usedOtherwise(c.IdempotencyKey)
	}
	switch c.Pattern {
	case parley.PatternAsk:
		made, w, err = s.askAgain(o, target, c, m)
	case parley.PatternDelegate:
		made = delegated(target, m, m.Task)
	default:
		made = notified(target, m)
	}
	made.Duplicate = true
	return made, w, err
}

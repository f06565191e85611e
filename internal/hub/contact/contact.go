// Package contact holds ask, delegate and notify, and waiting for an answer.
package contact

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names *names.Service
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service) *Service {
	return &Service{Core: core, names: names}
}

// Contact asks another participant, delegates to it, or notifies it. It returns *parley.Held if the call needs an approval
// first.
func (s *Service) Contact(ctx context.Context, caller unit.Caller, c parley.Contact) (parley.Contacted, error) {
	return s.ContactTelling(ctx, caller, c, func(parley.Contacted, time.Duration) {})
}

// ContactTelling is Contact for a caller that wants to know the stored request before the hub waits for the answer. If the contact
// waits, the hub calls the function made once, with the request (and its task) and the longest wait. Otherwise it does not call made.
func (s *Service) ContactTelling(ctx context.Context, caller unit.Caller, c parley.Contact, made func(parley.Contacted, time.Duration)) (parley.Contacted, error) {
	told, err := s.contact(ctx, caller, c, made)
	return WordFailure(told, err)
}

func (s *Service) contact(ctx context.Context, caller unit.Caller, c parley.Contact, tell func(parley.Contacted, time.Duration)) (parley.Contacted, error) {
	c, err := nameSessionAgent(ctx, s, caller, c)
	if err == nil {
		c, err = CheckContact(ctx, s, caller, unit.OpContact, c)
	}
	if err != nil {
		return parley.Contacted{}, err
	}
	var (
		made    parley.Contacted
		w       *parley.Wait
		who     Waiter
		unknown []string // mentioned names that no participant has
	)
	began, prepared := time.Now(), Prepare(c)
	err = s.Update(ctx, caller, unit.OpContact, func(u *unit.Unit) error {
		who = NewWaiter(u, caller)
		o, err := FindOrigin(u, caller)
		if err == nil {
			made, w, err = Contact(u, o, prepared)
		}
		unknown = u.UnknownNames
		return err
	})
	if err == nil {
		s.ObserveWrite(began)
		made.UnknownMentions, made.Notices = unknown, append(made.Notices, post.UnknownNotices(ctx, s.Core, unknown)...)
	}
	if errors.Is(err, assignment.ErrTooManyHops) {
		reportHopLimit(ctx, s.Core, caller, parley.AsError(err))
	}
	switch {
	case err != nil:
		c.Agent = policy.HeldTarget(err, c.Agent)
		return parley.Contacted{}, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolContact, c.WithoutCallKey())
	case w != nil:
		stored := made
		stored.Text, stored.Outcome = "Waiting for the answer.", parley.ContactWaiting
		tell(stored, w.Until.Sub(s.Now()))
		return awaitAnswer(ctx, s.Core, who, *w, made)
	case made.Task != "" && c.Wait > 0:
		tell(made, c.Wait)
		return awaitTask(ctx, s.Core, who, made, c.Wait)
	default:
		return made, nil
	}
}

// WordFailure words the error of a contact that failed because of the other participant: "Error: DataBot did not respond …".
// This sentence becomes the message of the error and the text of the contact. Other errors keep their messages, and so do
// errors of the caller itself (E001, E003).
func WordFailure(told parley.Contacted, err error) (parley.Contacted, error) {
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

// CheckContact checks a contact as far as that is possible outside an update, and returns it with its defaults.
func CheckContact(ctx context.Context, s *Service, caller unit.Caller, do unit.Op, c parley.Contact) (parley.Contact, error) {
	if err := checkPattern(c); err != nil {
		return c, err
	}
	draft, err := parley.Draft{
		Direct: []string{c.Agent}, Priority: c.Priority, IdempotencyKey: c.IdempotencyKey,
		Content: parley.Content{Text: c.Request(parley.Agent{}, ""), Artifacts: c.Artifacts},
	}.Check(s.Config.Limits)
	if err != nil {
		return c, err
	}
	if c.After, err = s.names.FindNeeded(ctx, caller, do, c.After); err != nil {
		return c, err
	}
	c.Priority = draft.Priority
	c.Artifacts, err = post.FillArtifactSizes(ctx, s.Core, caller, do, draft)
	return c, err
}

// Prepared is a contact whose text was parsed before the transaction, in which it would hold up other writers.
type Prepared struct {
	parley.Contact
	mentions parley.Mentions // of the text below the header
}

// Prepare parses the text of a contact.
func Prepare(c parley.Contact) Prepared {
	return Prepared{c, parley.ParseMentions(c.RequestBody())}
}

func checkPattern(c parley.Contact) error {
	bad := func(what, hint string) error { return parley.Errorf(parley.BadInput, "%s", what).Suggest("%s", hint) }
	delegates := c.Pattern == parley.PatternDelegate
	switch {
	case c.Pattern != parley.PatternAsk && c.Pattern != parley.PatternNotify && !delegates:
		return parley.Errorf(parley.BadInput, "unknown action %q", c.Pattern).Suggest("use ask, delegate or notify")
	case c.Agent == "":
		return bad("no recipient is named", "name an agent, or a person")
	case strings.TrimSpace(c.Message) == "":
		return bad("the message is empty", "write the question, the work or the notification")
	case c.Priority.Given() && !delegates:
		return bad("only delegate can have a priority", "leave priority out, or use delegate")
	case c.Session != "" && c.Pattern != parley.PatternAsk:
		return bad("only ask can name a session", "leave session out, or use ask")
	case len(c.After) > 0 && !delegates:
		return bad("only delegate can wait for other tasks", "leave after out, or use delegate")
	case c.Pattern == parley.PatternNotify && (c.Deadline != nil || c.Wait != 0):
		return bad("a notification gets no answer", "leave deadline and wait out, or use ask")
	case c.Wait < 0 || c.Wait > unit.MaxWait:
		return parley.Errorf(parley.BadInput, "the wait is %s", c.Wait).Suggest("wait 0s to %s", unit.MaxWait)
	default:
		return nil
	}
}

// FindOrigin returns the origin of a call, with the caller's run if the caller is a run. It returns E003, conflict, if the run has
// ended.
func FindOrigin(u *unit.Unit, caller unit.Caller) (unit.Origin, error) {
	o := unit.Origin{Caller: caller}
	if caller.Run == "" {
		return o, nil
	}
	r, err := runs.OwnRun(u, caller.Run)
	o.Run = &r
	return o, err
}

// Contact makes a contact inside an update. It does not wait: for an ask it returns the wait.
func Contact(u *unit.Unit, o unit.Origin, c Prepared) (made parley.Contacted, w *parley.Wait, err error) {
	if o.Run != nil {
		if o.Call, err = contactDigest(u, c.Contact); err != nil {
			return made, nil, err
		}
	}
	if first, found, err := earlierContact(u, o, c.Contact); err != nil {
		return made, nil, err
	} else if found {
		return repeatContact(u, o, c.Contact, first.Message)
	}
	target, err := agents.Agent(u, c.Agent)
	switch {
	case err != nil:
		return made, nil, err
	case target.ID == u.Me.ID:
		return made, nil, parley.Errorf(parley.BadInput, "%s cannot contact itself", u.Me.ID).Suggest("name another participant")
	case target.Kind == parley.KindSystem:
		return made, nil, conversations.ToSystem(target.ID)
	}
	if err := policy.MayCall(u, o, target); err != nil {
		return made, nil, err
	}
	if err := assignment.CheckHops(u, o); err != nil {
		return made, nil, err
	}
	if err := trees.CheckReachable(u, target); err != nil {
		return made, nil, err
	}
	if err := assignment.CheckAvailable(u, target, c.Pattern); err != nil {
		return made, nil, err
	}
	switch c.Pattern {
	case parley.PatternAsk:
		return storeAsk(u, o, target, c)
	case parley.PatternDelegate:
		if c.Wait > 0 {
			if err := waits.MayWait(u, o, target, ""); err != nil {
				return made, nil, err
			}
		}
		if made, err = delegate(u, o, target, c); err == nil && c.Wait > 0 {
			err = waits.MayWait(u, o, target, made.Message) // if it fails, the update stores nothing
		}
	default:
		made, err = notify(u, o, target, c)
	}
	return made, nil, err
}

// notify stores a message that wakes nobody.
func notify(u *unit.Unit, o unit.Origin, target parley.Agent, c Prepared) (parley.Contacted, error) {
	r, err := postRequest(u, o, target, c, "")
	made := notifyResult(target, r.Message)
	made.Notices = r.Notices
	return made, err
}

func notifyResult(target parley.Agent, m parley.Message) parley.Contacted {
	says := parley.Own("Notification sent to ").Name(target.ID, target.Name).Own(".")
	return parley.Contacted{
		Text: says.Text, Quotes: says.Quotes, Outcome: parley.ContactNotified, Agent: target.ID, Conversation: m.Conversation, Message: m.ID, Seq: m.Seq,
	}
}

// delegateResult is what the caller of a delegation gets.
func delegateResult(target parley.Agent, m parley.Message, task string) parley.Contacted {
	says := parley.Own("Delegated to ").Name(target.ID, target.Name).Own(" (subtask "+task+"). You'll receive the result automatically when ").
		Name(target.ID, target.Name).Own(" finishes.")
	return parley.Contacted{
		Text: says.Text, Quotes: says.Quotes,
		Outcome: parley.ContactDelegated, Agent: target.ID, Conversation: m.Conversation, Message: m.ID, Seq: m.Seq, Task: task,
	}
}

// requestForms has the type and the purpose of the request of each pattern.
var requestForms = map[parley.Pattern]struct {
	kind    parley.Type
	purpose parley.Purpose
}{
	parley.PatternAsk:      {parley.TypeRequest, parley.PurposeAsk},
	parley.PatternDelegate: {parley.TypeTask, parley.PurposeTask},
	parley.PatternNotify:   {kind: parley.TypeNotification},
}

// postRequest posts the request of a contact to the DM of the caller and the target.
func postRequest(u *unit.Unit, o unit.Origin, target parley.Agent, c Prepared, task string) (parley.Receipt, error) {
	as, mentions := requestForms[c.Pattern], c.mentions.Under(c.Header(u.Me, task).Text)
	p := post.Posting{
		Draft: parley.Draft{
			Direct: []string{target.ID}, To: target.ID, Type: as.kind, Priority: c.Priority, IdempotencyKey: c.IdempotencyKey,
			Content: parley.Content{Text: c.Request(u.Me, task), Artifacts: c.Artifacts},
		},
		Source: unit.SourceContact, Purpose: as.purpose, Request: true, Mentions: &mentions, Task: task, By: o.Run, Hops: o.Hops(),
		Trace: o.Caller.Trace,
	}
	if o.Approved != nil {
		p.Inherits = o.Approved.TraceID
	}
	if o.Run != nil {
		p.Run, p.Call = o.Run.ID, o.Call
	}
	if err := p.Compose(); err != nil {
		return parley.Receipt{}, err
	}
	return post.Store(u, p)
}

// contactDigest returns a digest of a contact that does not depend on the name by which the target is called. The text of the
// request cannot serve, because it names the request's task.
func contactDigest(u *unit.Unit, c parley.Contact) (string, error) {
	target, err := agents.FindAgent(u, c.Agent)
	if err == nil {
		c.Agent = target.ID
	} else if !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	return unit.CallDigest(c.WithoutCallKey())
}

// earlierContact returns the request of the same contact if it was made before: with the same key, or by an earlier attempt of
// the run.
func earlierContact(u *unit.Unit, o unit.Origin, c parley.Contact) (first parley.Receipt, found bool, err error) {
	if first, found, err = post.FindByKey(u, c.IdempotencyKey); found || err != nil || o.Run == nil {
		return first, found, err
	}
	return post.FindRepeated(u, *o.Run, o.Call)
}

// repeatContact returns the result of a contact that was made before. If its ask is still open, the caller waits for it again.
func repeatContact(u *unit.Unit, o unit.Origin, c parley.Contact, m parley.Message) (made parley.Contacted, w *parley.Wait, err error) {
	target, err := u.Agents().Find(m.To)
	named, otherwise := agents.FindAgent(u, c.Agent)
	if err = errors.Join(err, otherwise); err != nil || named.ID != target.ID || m.Source != unit.SourceContact || m.Type != requestForms[c.Pattern].kind {
		return made, nil, messages.KeyUsedError(c.IdempotencyKey)
	}
	switch c.Pattern {
	case parley.PatternAsk:
		made, w, err = resumeAsk(u, o, target, c, m)
	case parley.PatternDelegate:
		made = delegateResult(target, m, m.Task)
	default:
		made = notifyResult(target, m)
	}
	made.Duplicate = true
	return made, w, err
}

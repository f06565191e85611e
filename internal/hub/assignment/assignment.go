// Package assignment holds giving tasks to agents: new ones, again, or to another agent.
package assignment

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// NewTask makes the queued task that a contact asks for, and does not store it.
func NewTask(u *unit.Unit, o *unit.Origin, assignee parley.Agent, c parley.Contact) (t parley.Task, err error) {
	parent, err := work.FindParent(u, *o)
	if err != nil {
		return t, err
	}
	deadline, err := messages.Deadline(u, parley.Draft{Deadline: c.Deadline})
	if err != nil {
		return t, err
	}
	n, err := tasks.DependsOn(u, c.After, o.Task.Lenient)
	if err == nil {
		err = tasks.MustNotFormCycle(u, parent, n)
	}
	if err != nil {
		return t, err
	}
	o.Task.Notices = n.Notices
	t = parley.Task{
		Title: parley.TitleOf(o.Task.Title), Requester: u.Me.ID, OriginalRequester: u.Me.ID, Assignee: assignee.ID,
		DelegationReason: o.Task.Reason, Source: o.Task.Source, Priority: c.Priority, Deadline: deadline, DependsOn: n.IDs,
		Status: parley.TaskQueued, Attempt: 1, CreatedAt: u.Now, UpdatedAt: u.Now, CallbackTo: o.Conversation(),
	}
	unit.SetDefault(&t.Title, parley.TitleOf(c.Message))
	if o.Task.Original != "" {
		t.OriginalRequester = o.Task.Original
	}
	if !t.Priority.Given() {
		t.Priority = parley.DefaultPriority
	}
	if t.ID, err = u.Tasks().NextID(); err != nil {
		return t, err
	}
	trace, err := names.JoinableTrace(u, o.Caller.Trace, "")
	if err != nil {
		return t, err
	}
	t.Root, t.TraceID = t.ID, cmp.Or(trace, t.ID)
	return t, work.AddToParent(u, &t, parent)
}

// FindOrMakeOwnTask makes a task that the caller sets itself, and returns its id. If the same call has made it before, with the
// same key or in an earlier attempt of the run, FindOrMakeOwnTask returns that task.
func FindOrMakeOwnTask(u *unit.Unit, o unit.Origin, c parley.Contact) (id string, err error) {
	key := c.IdempotencyKey
	if key != "" {
		id, err = messages.FindKeyed(u, key)
	} else if o.Run != nil {
		key, id, err = findOwnTask(u, o, c)
	}
	switch {
	case err != nil:
		return "", err
	case parley.IsUUID(id):
		return "", messages.KeyUsedError(key)
	case id == "":
		id, err = makeOwnTask(u, o, c)
	case key == c.IdempotencyKey:
		return id, nil
	}
	if err == nil && key != "" {
		err = u.Messages().AddKey(u.Me.ID, key, id, u.Now)
	}
	return id, err
}

// findOwnTask returns the task that an earlier attempt of the run has made by the same call, or nothing, and the key by which a later
// attempt finds it. If an attempt makes the call twice, it makes two tasks.
func findOwnTask(u *unit.Unit, o unit.Origin, c parley.Contact) (key, id string, err error) {
	c.Agent = u.Me.ID
	call, err := unit.CallDigest([]any{c, o.Task.Title, o.Task.Parent, o.Task.Reason})
	if err != nil {
		return "", "", err
	}
	keyIn := func(r parley.Run, n int) string { return fmt.Sprintf("run/%s/%s/%d", r.ID, call, n) }
	own := 0
	for {
		key = keyIn(*o.Run, own)
		if id, err = messages.FindKeyed(u, key); err != nil || id == "" {
			break
		}
		own++
	}
	if err != nil {
		return "", "", err
	}
	earlier, err := runs.Earlier(u, *o.Run)
	for _, other := range earlier {
		if err == nil && id == "" {
			id, err = messages.FindKeyed(u, keyIn(other, own))
		}
	}
	return key, id, err
}

// makeOwnTask makes a task of the caller's own. The task begins at once, unless it depends on others.
func makeOwnTask(u *unit.Unit, o unit.Origin, c parley.Contact) (id string, err error) {
	o.Task.Source = o.Caller.Source
	t, err := NewTask(u, &o, u.Me, c)
	if err != nil {
		return "", err
	}
	work.SetCallbackTo(&t, "")
	t.Conversation = t.CallbackTo
	if err := tasks.AddTask(u, t); err != nil {
		return "", err
	}
	if waits, err := tasks.WaitsForOthers(u, t); err != nil || waits {
		return t.ID, err
	}
	return t.ID, tasks.SetState(u, &t, parley.TaskActive, nil)
}

// CheckAvailable returns why a participant cannot be contacted now in this way, or nil. People always can, and every participant takes a
// note.
func CheckAvailable(u *unit.Unit, target parley.Agent, pattern parley.Pattern) error {
	if pattern == parley.PatternNotify || target.Kind != parley.KindAgent {
		return nil
	}
	status, _, err := presence.Status(u, target, 0, parley.Awaiting{})
	if err != nil {
		return err
	}
	offline := status.Status == parley.StatusOffline
	switch {
	case pattern == parley.PatternDelegate && offline && status.Reason == parley.ReasonStopped:
		return parley.Errorf(parley.Unavailable, "%s is offline and cannot take work. Use 'notify' to leave a message.", target.Name)
	case pattern == parley.PatternDelegate:
		return nil
	case offline:
		return parley.Errorf(parley.Unavailable, "%s is offline and cannot be asked. Use 'notify' to leave a message.", target.Name)
	case target.Paused.InForce(u.Now):
		return parley.Errorf(parley.Unavailable, "%s is paused and cannot be asked. Use 'delegate' to have it work on this later.", target.Name)
	}
	excesses, err := presence.FindExcesses(u, target)
	if err != nil || len(excesses) == 0 {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%s is over budget (%s) and cannot be asked. Use 'delegate' to have it work on this later.",
		target.Name, excesses[0].Says)
}

// IsAway reports whether an agent is away, so that it takes work only when it is back.
func IsAway(u *unit.Unit, a parley.Agent) (bool, error) {
	if a.Kind != parley.KindAgent {
		return false, nil
	}
	status, _, err := presence.Status(u, a, 0, parley.Awaiting{})
	return status.Reason == parley.ReasonAway, err
}

// ErrTooManyHops marks the refusal of a contact at the end of too long a chain. The hub tells a person about it.
var ErrTooManyHops = errors.New("too many hops")

// CheckHops refuses a contact at the end of too long a chain of automatic messages.
func CheckHops(u *unit.Unit, o unit.Origin) error {
	hops, limit := o.Hops()+1, u.Core.Config.Loops.Hops
	if u.Me.Kind != parley.KindAgent || hops <= limit {
		return nil
	}
	return parley.Errorf(parley.DependencyFailed, "this call follows %d automatic messages in a row, and the limit is %d", hops, limit).
		From(ErrTooManyHops).Suggest("ask a person to continue")
}

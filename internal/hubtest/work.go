package hubtest

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TryContact makes a contact and returns only its error.
func (f *Fixture) TryContact(caller hub.Caller, c parley.Contact) error {
	_, err := f.Contact(ctx, caller, c)
	return err
}

// Delegate hands work to an agent, and returns the id of the task.
func (f *Fixture) Delegate(by hub.Caller, to, text string, change ...func(*parley.Contact)) string {
	f.T.Helper()
	c := parley.Contact{Pattern: parley.PatternDelegate, Agent: to, Message: text}
	for _, edit := range change {
		edit(&c)
	}
	made := Result[parley.Contacted](f)(f.Contact(ctx, by, c))
	if made.Task == "" {
		f.T.Fatalf("nothing was delegated: %+v", made)
	}
	return made.Task
}

// TaskByID returns a task as the owner sees it.
func (f *Fixture) TaskByID(id string) parley.TaskView {
	f.T.Helper()
	return Result[parley.TaskView](f)(f.Task(ctx, Owner, id))
}

// AssertTaskState fails the test if one of the tasks has another state.
func (f *Fixture) AssertTaskState(state parley.TaskState, ids ...string) {
	f.T.Helper()
	for _, id := range ids {
		if got := f.TaskByID(id).Status; got != state {
			f.T.Errorf("%s is %s, want %s", id, got, state)
		}
	}
}

// HeldApproval returns the approval that a call is held for. It ends the test if the call is not held.
func (f *Fixture) HeldApproval(err error) parley.Approval {
	f.T.Helper()
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		f.T.Fatalf("it is not held: %v", err)
	}
	return held.Approval
}

// DecideAs decides about a held call.
func (f *Fixture) DecideAs(decider, approval string, d parley.Decision) parley.Approval {
	f.T.Helper()
	return Result[parley.Approval](f)(f.Decide(ctx, As(decider), approval, d))
}

// ApprovalByID returns an approval as the owner sees it.
func (f *Fixture) ApprovalByID(id string) parley.Approval {
	f.T.Helper()
	return Result[parley.Approval](f)(f.Approval(ctx, Owner, id))
}

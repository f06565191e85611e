package work

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Offer asks the assignee of a queued task to do it, unless the task depends on others: by the request that was kept back, or by a new
// one.
func Offer(u *unit.Unit, t *parley.Task) error {
	if waits, err := tasks.WaitsForOthers(u, *t); err != nil || waits {
		return err
	}
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	if own := t.Assignee == t.Requester; own && t.Assignee == u.Me.ID && !assignee.Dispatched() {
		return tasks.SetState(u, t, parley.TaskActive, nil) // the assignee needs no request
	}
	if t.Message == "" || t.Attempt > 1 { // the first request may be for another assignee
		return requestAgain(u, t)
	}
	m, err := u.Messages().Get(t.Message)
	if errors.Is(err, parley.ErrNotFound) {
		return requestAgain(u, t)
	}
	if err == nil {
		_, err = messages.Deliver(u, m, []parley.NewDelivery{{Agent: t.Assignee, Wakes: true, Purpose: parley.PurposeTask}})
	}
	return err
}

// SetCallbackTo sets where the end of a task is told, unless that is set already. A task that its assignee has set itself has no callback.
func SetCallbackTo(t *parley.Task, where string) {
	if t.Assignee == t.Requester && t.Parent == "" {
		t.CallbackTo = ""
		return
	}
	unit.SetDefault(&t.CallbackTo, where)
}

// requestAgain posts the request for a task again, to its present assignee. The hub is the sender.
func requestAgain(u *unit.Unit, t *parley.Task) error {
	request, text, err := findRequest(u, *t)
	if err != nil {
		return err
	}
	where, err := FindRequestPlace(u, *t)
	if err != nil {
		return err
	}
	request.To, request.Conversation, request.Type = t.Assignee, where, parley.TypeTask
	request.Task, request.TraceID, request.Source = t.ID, t.TraceID, unit.SourceContact
	first, err := reports.FindFirstRequest(u, *t)
	if err != nil {
		return err
	}
	if first.Conversation == where {
		request.InReplyTo = first.ID
	}
	if first.ID != "" {
		if request.Metadata, err = json.Marshal(reports.Repetition{Repeats: first.ID}); err != nil {
			return err
		}
	}
	m, err := messages.PostAsHub(u, request, text, parley.NewDelivery{Agent: t.Assignee, Wakes: true, Purpose: parley.PurposeTask})
	if err != nil {
		return err
	}
	_, asked, err := AskOf(u, t.ID)
	if err != nil {
		return err
	}
	after := *t
	after.Message, after.Conversation = m.ID, where
	if !asked {
		SetCallbackTo(&after, where)
	}
	if err := tasks.Save(u, t, after); err != nil {
		return err
	}
	return needsTask(u, *t)
}

// findRequest returns the message and the text that a task was requested with. The text says whose words it repeats.
func findRequest(u *unit.Unit, t parley.Task) (m parley.Message, text parley.Wording, err error) {
	first, err := u.Messages().Get(t.Message)
	if t.Message == "" || errors.Is(err, parley.ErrNotFound) {
		first, err = parley.Message{Content: parley.Content{Text: t.Title}}, nil
	}
	if err != nil {
		return m, text, err
	}
	if first.Damage != nil { // the text is lost
		first.Content.Text = t.Title + "\n\n" + first.Damage.Message
	}
	m.Content, m.Payload, m.Hops = first.Content, first.Payload, first.Hops
	words := cmp.Or(m.Content.Text, t.Title)
	if first.Source == unit.SourceContact {
		return m, text.Quote(t.Requester, words), nil // its text begins with the header
	}
	requester, err := u.Agents().Find(t.Requester)
	header := parley.Contact{Pattern: parley.PatternDelegate, Priority: t.Priority}.Header(requester, t.ID)
	return m, header.Own("\n\n").Quote(t.Requester, words), err
}

// FindRequestPlace returns where the assignee of a task is asked to do it: where it was given the task, or in the DM with the requester or,
// if that was removed or is the assignee itself, with the hub.
func FindRequestPlace(u *unit.Unit, t parley.Task) (string, error) {
	where, err := u.Conversations().Find(t.Conversation)
	if err == nil {
		if in, err := conversations.TakesPart(u, where, t.Assignee); err != nil || in {
			return where.ID, err
		}
	} else if t.Conversation != "" && !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	requester, err := u.Agents().Find(t.Requester)
	if err != nil {
		return "", err
	}
	if requester.RemovedAt != nil || requester.ID == t.Assignee {
		requester.ID = parley.System
	}
	dm, err := conversations.Dm(u, requester.ID, t.Assignee)
	return dm.ID, err
}

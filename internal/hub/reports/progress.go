package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	// sourceReport is the source of the messages by which requesters in directory trees learn how far a task has come.
	sourceReport = "task_progress"
	// maxUnreadReports is how many of these messages may be unread in the inbox of a requester. An inbox of files has room for a
	// hundred documents and evicts the oldest.
	maxUnreadReports = 20
	// maxAwaitedTasks is how many open tasks of a requester ReportRead searches for postponed reports.
	maxAwaitedTasks = 1000
)

// ReportProgress tells a requester in a directory tree how far a task has come: one message from the assignee, in reply to the
// request, because scripts have no other way to see it. While many reports are unread, the hub postpones the message. inTree is
// false for any other requester.
func ReportProgress(u *unit.Unit, t *parley.Task, before *parley.TaskProgress) (inTree bool, err error) {
	to, err := u.Agents().Find(t.Requester)
	if err != nil || to.Runtime != parley.RuntimeBridge || to.RemovedAt != nil {
		return false, err
	}
	if to.ID == t.Assignee || to.ID == u.DocumentReader {
		return true, nil
	}
	payload, err := newReport(*t.Progress).payload()
	if err != nil {
		return true, err
	}
	if before != nil {
		last, err := newReport(*before).payload()
		if err != nil || bytes.Equal(last, payload) && !before.Unreported {
			return true, err // the report says nothing new
		}
	}
	if gets, err := getsReport(u, *t, to); err != nil || gets {
		return true, err
	}
	return true, sendReport(u, t, to, payload)
}

// getsReport reports whether the requester gets the message by which the assignee reports: the message is delivered to the
// requester, or is in the channel of the request.
func getsReport(u *unit.Unit, t parley.Task, to parley.Agent) (bool, error) {
	m := u.Reporting
	if m == nil {
		return false, nil
	}
	if m.Conversation == t.CallbackTo {
		where, err := u.Conversations().Find(m.Conversation)
		if err != nil || where.Kind == parley.Channel {
			return err == nil, unit.IgnoreNotFound(err)
		}
	}
	_, err := u.Deliveries().Get(m.ID, to.ID)
	return err == nil, unit.IgnoreNotFound(err)
}

// sendReport posts a report where the requester expects the end of the task.
func sendReport(u *unit.Unit, t *parley.Task, to parley.Agent, payload json.RawMessage) error {
	conversation, err := FindCallbackConversation(u, Callback{To: to.ID, Conversation: cmp.Or(t.CallbackTo, t.Conversation), About: t.Assignee})
	if err != nil {
		return err
	}
	where, err := u.Conversations().Find(conversation)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	hops, err := CountHops(u, *t)
	if err != nil {
		return err
	}
	report := newReport(*t.Progress)
	m := parley.Message{
		From: t.Assignee, To: to.ID, Conversation: where.ID, Type: parley.TypeStatus, Task: t.ID, Source: sourceReport, TraceID: t.TraceID, Hops: hops + 1,
		Content: parley.Content{Text: report.Message}, Payload: payload,
	}
	first, err := FindFirstRequest(u, *t)
	if err != nil {
		return err
	}
	if first.Conversation == where.ID {
		m.InReplyTo = first.ID
	}
	if where.Kind == parley.Channel {
		// Scripts answer messages in a channel that are addressed to them. So a report is addressed to nobody, unless the task is
		// blocked.
		m.Content.Text = report.line()
		if !t.Blocked() {
			m.To = ""
			_, err = messages.PostUnsent(u, m)
			return err
		}
	} else if postponed, err := postponeReport(u, t, to); err != nil || postponed {
		return err
	}
	_, err = messages.PostUnsent(u, m, parley.NewDelivery{Agent: to.ID})
	return err
}

// postponeReport reports whether a report must wait because too many are unread, and stores the result in the task. ReportRead
// sends the report later.
func postponeReport(u *unit.Unit, t *parley.Task, to parley.Agent) (bool, error) {
	inbox, err := u.Queue().Inbox(to.ID)
	if err != nil {
		return false, err
	}
	limit := maxUnreadReports
	if t.Blocked() {
		limit *= 2 // a blocked task is reported sooner
	}
	postponed := inbox.Quiet >= limit
	if postponed == t.Progress.Unreported {
		return postponed, nil
	}
	after, progress := *t, *t.Progress
	progress.Unreported = postponed
	after.Progress = &progress
	return postponed, tasks.Save(u, t, after)
}

// ReportRead is called when an agent of a tree has read a document that does not wake it, or the document was evicted or could
// not be written. It sends postponed reports in its place, whichever task they are about, the oldest task first.
func ReportRead(u *unit.Unit, recipient string) error {
	inbox, err := u.Queue().Inbox(recipient)
	if err != nil || inbox.Quiet >= 2*maxUnreadReports {
		return err
	}
	tasks, err := u.Tasks().Awaited(recipient, maxAwaitedTasks)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Progress == nil || !t.Progress.Unreported {
			continue
		}
		if _, err := ReportProgress(u, t, t.Progress); err != nil {
			return err
		}
	}
	return nil
}

// report is the progress of a task, in the form of a status-update of the Routing Protocol. The bridge converts it to a
// notification of ClawOS.
type report struct {
	Status     string   `json:"status"` // in_progress, blocked
	Progress   *float64 `json:"progress,omitempty"`
	Current    *int64   `json:"current,omitempty"`
	Total      *int64   `json:"total,omitempty"`
	Message    string   `json:"message"`
	Confidence *float64 `json:"confidence,omitempty"`
	Blockers   []string `json:"blockers,omitempty"`
}

func newReport(p parley.TaskProgress) report {
	r := report{
		Status: "in_progress", Progress: p.Fraction, Current: p.Current, Total: p.Total, Message: p.Message, Confidence: p.Confidence, Blockers: p.Blockers,
	}
	if r.Message == "" {
		r.Message = cmp.Or(r.share(), "the task goes on")
	}
	if len(p.Blockers) > 0 {
		r.Status = "blocked"
		r.Message += " (blocked: " + unit.Listed(p.Blockers) + ")"
	}
	return r
}

func (r report) payload() (json.RawMessage, error) { return json.Marshal(r) }

// share returns the finished part as text, or "".
func (r report) share() string {
	switch {
	case r.Progress != nil:
		return fmt.Sprintf("%g %%", math.Round(*r.Progress*100))
	case r.Current != nil && r.Total != nil:
		return fmt.Sprintf("%d of %d", *r.Current, *r.Total)
	default:
		return ""
	}
}

// line returns the report as one line of text.
func (r report) line() string {
	share := r.share()
	if share == "" || strings.HasPrefix(r.Message, share) {
		return r.Message
	}
	return share + ": " + r.Message
}

package client

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Workspace returns the hub as one participant uses it, which is what the tools of models work on. It makes calls as agent, the
// participant that the client's credential belongs to; run is the run that calls, or "".
//
// Its calls survive a restart of the hub: a call that was interrupted is repeated until the hub is back, and carries an
// idempotency key where it changes something. If no hub is running, a call fails after a short while.
func (c *Client) Workspace(agent, run string) *Workspace {
	return &Workspace{client: c, agent: agent, run: run}
}

// Workspace is a hub as one participant uses it. It implements parley.Workspace.
type Workspace struct {
	client *Client
	agent  string
	run    string
}

var _ parley.Workspace = (*Workspace)(nil)

const (
	// startTime is how long a call waits for a hub that is not running: a restart takes about this long.
	startTime = 10 * time.Second
	// restartTime is how long an interrupted call is repeated.
	restartTime = time.Minute
)

// untilBack makes a call, and repeats it while the hub is unreachable. Repeating the call must be safe. again reports whether it
// is repeated.
func untilBack[T any](ctx context.Context, do func(again bool) (T, error)) (T, error) {
	begun := time.Now()
	for interrupted := false; ; {
		out, err := do(interrupted)
		if !Unreachable(err) || ctx.Err() != nil {
			return out, err
		}
		interrupted = interrupted || !neverSent(err)
		limit := startTime
		if interrupted {
			limit = restartTime
		}
		if time.Since(begun) > limit {
			return out, err
		}
		select {
		case <-time.After(repeatPause):
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
}

// reading makes a call that changes nothing.
func reading[T any](ctx context.Context, do func() (T, error)) (T, error) {
	return untilBack(ctx, func(bool) (T, error) { return do() })
}

// Contact makes a contact. See Client.Contact.
func (w *Workspace) Contact(ctx context.Context, contact parley.Contact) (parley.Contacted, error) {
	if contact.IdempotencyKey == "" {
		contact.IdempotencyKey = parley.CallKey(rand.Text())
	}
	return untilBack(ctx, func(bool) (parley.Contacted, error) { return w.client.Contact(ctx, contact) })
}

// ContactTelling makes a contact, and calls onStored with the stored request before it waits.
func (w *Workspace) ContactTelling(ctx context.Context, contact parley.Contact, onStored func(parley.Contacted)) (parley.Contacted, error) {
	if contact.IdempotencyKey == "" {
		contact.IdempotencyKey = parley.CallKey(rand.Text())
	}
	var once sync.Once
	o := ContactOptions{OnStored: func(stored parley.Contacted) { once.Do(func() { onStored(stored) }) }}
	return untilBack(ctx, func(bool) (parley.Contacted, error) { return w.client.ContactWith(ctx, contact, o) })
}

// Post posts a message. See Client.Post.
func (w *Workspace) Post(ctx context.Context, d parley.Draft) (parley.Receipt, error) {
	own := d.IdempotencyKey != ""
	if !own {
		d.IdempotencyKey = parley.CallKey(rand.Text())
	}
	receipt, err := reading(ctx, func() (parley.Receipt, error) { return w.client.Post(ctx, d) })
	receipt.Duplicate = receipt.Duplicate && own
	return receipt, err
}

// Read returns the last messages of a conversation before a seq, oldest first.
func (w *Workspace) Read(ctx context.Context, conversation string, before int64, limit int) (parley.NamedMessages, error) {
	return reading(ctx, func() (parley.NamedMessages, error) {
		return w.client.HistoryWithNames(ctx, conversation, HistoryOptions{Before: before, Limit: limit})
	})
}

// Who returns the presence of every participant.
func (w *Workspace) Who(ctx context.Context) ([]parley.Presence, error) {
	return reading(ctx, func() ([]parley.Presence, error) { return w.client.Who(ctx) })
}

// Named returns the names, kinds and roles of participants.
func (w *Workspace) Named(ctx context.Context, ids ...string) ([]parley.Presence, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return reading(ctx, func() ([]parley.Presence, error) { return w.client.Names(ctx, ids...) })
}

// Self returns the participant itself.
func (w *Workspace) Self(ctx context.Context) (parley.Agent, error) {
	me, err := reading(ctx, func() (Identity, error) { return w.client.Whoami(ctx) })
	return me.Agent, err
}

// Conversations returns a page of conversations.
func (w *Workspace) Conversations(ctx context.Context, f parley.ListFilter) ([]parley.ConversationView, error) {
	page, err := reading(ctx, func() (Page[parley.ConversationView], error) {
		return w.client.Conversations(ctx, ConversationsOptions{All: f.All, Archived: f.Archived, Ephemeral: f.Ephemeral}, PageRequest{Limit: f.Limit})
	})
	return page.Items, err
}

// Search returns the first page of the messages that a query matches.
func (w *Workspace) Search(ctx context.Context, r parley.SearchRequest) (parley.SearchResult, error) {
	page, err := reading(ctx, func() (SearchPage, error) { return w.client.Search(ctx, r.Query, PageRequest{Limit: r.Limit}) })
	found := parley.SearchResult{Hits: page.Items, Behind: page.Behind}
	if page.Next != "" {
		found.Next = &parley.SearchCursor{} // there is more
	}
	return found, err
}

// Peek returns the open deliveries in the inbox, and leaves them there.
func (w *Workspace) Peek(ctx context.Context, limit int) (parley.Peeked, error) {
	return reading(ctx, func() (parley.Peeked, error) { return w.client.Peek(ctx, limit) })
}

// Sleep puts the participant to sleep until a time.
func (w *Workspace) Sleep(ctx context.Context, until time.Time) error {
	_, err := reading(ctx, func() (parley.Agent, error) { return w.client.Sleep(ctx, w.agent, until) })
	return err
}

// Take takes pending deliveries out of the inbox. If the connection breaks, the answer may be lost. The repeated take of a session
// then returns what the session took and has not marked as seen. Without a session, that is ready again when its lease ends.
func (w *Workspace) Take(ctx context.Context, t parley.Take) (parley.Taken, error) {
	return untilBack(ctx, func(again bool) (parley.Taken, error) {
		t.Again = t.Again || again && t.Session != ""
		return w.client.Take(ctx, t)
	})
}

// Ack acknowledges messages.
func (w *Workspace) Ack(ctx context.Context, lease string, messages ...string) ([]parley.Delivery, error) {
	return reading(ctx, func() ([]parley.Delivery, error) { return w.client.Ack(ctx, lease, messages...) })
}

// OpenSession opens a connection of a client session. See Client.OpenSession.
func (w *Workspace) OpenSession(ctx context.Context, n parley.NewSession) (parley.SessionStream, error) {
	s, err := w.client.OpenSession(ctx, n)
	if err != nil { // a nil *SessionStream would not be a nil interface
		return nil, err
	}
	return s, nil
}

// Sessions returns the live client sessions of all participants.
func (w *Workspace) Sessions(ctx context.Context) ([]parley.Session, error) {
	return reading(ctx, func() ([]parley.Session, error) { return w.client.Sessions(ctx) })
}

// AckSession acknowledges messages that a client session of the participant holds. If the call was interrupted, messages that it had
// acknowledged already are no error.
func (w *Workspace) AckSession(ctx context.Context, key string, messages ...string) ([]parley.Delivery, error) {
	return untilBack(ctx, func(again bool) ([]parley.Delivery, error) {
		list, err := w.client.AckSession(ctx, key, messages...)
		if again && err != nil && parley.AsError(err).Reason == parley.Conflict {
			return w.client.Ack(ctx, "", messages...)
		}
		return list, err
	})
}

// SettleSession ends everything that a client session of the participant has taken.
func (w *Workspace) SettleSession(ctx context.Context, key string, outcome parley.Outcome) ([]parley.Delivery, error) {
	return reading(ctx, func() ([]parley.Delivery, error) { return w.client.SettleSession(ctx, key, outcome) })
}

// See marks what a lease holds as seen.
func (w *Workspace) See(ctx context.Context, lease, run string) ([]parley.Delivery, error) {
	return reading(ctx, func() ([]parley.Delivery, error) { return w.client.See(ctx, lease, run) })
}

// AwaitOutcome waits for the outcome of a message, an ask, a task or an approval.
func (w *Workspace) AwaitOutcome(ctx context.Context, id string, wait time.Duration) (parley.Awaited, error) {
	return reading(ctx, func() (parley.Awaited, error) { return w.client.Wait(ctx, id, wait) })
}

// Tasks returns a page of tasks, the newest first.
func (w *Workspace) Tasks(ctx context.Context, f parley.TaskFilter) ([]parley.TaskView, error) {
	page, err := reading(ctx, func() (Page[parley.TaskView], error) {
		return w.client.Tasks(ctx, TasksOptions{
			Assignee: f.Assignee, Requester: f.Requester, Status: f.Status, Open: f.Open, Roots: f.Roots,
		}, PageRequest{Limit: f.Limit})
	})
	return page.Items, err
}

// Task returns one task.
func (w *Workspace) Task(ctx context.Context, id string) (parley.TaskView, error) {
	return reading(ctx, func() (parley.TaskView, error) { return w.client.Task(ctx, id) })
}

// Events yields the events from now on that a filter selects. See Client.Events. If the first attempts to connect fail, events of that
// time are missing, and it begins with EventReset.
func (w *Workspace) Events(ctx context.Context, f parley.EventFilter) iter.Seq2[parley.Event, error] {
	kinds := make([]string, len(f.Kinds))
	for i, k := range f.Kinds {
		kinds[i] = string(k)
	}
	return func(yield func(parley.Event, error) bool) {
		connected, missed := false, false
		for e, err := range w.client.Events(ctx, EventsOptions{Kinds: kinds, Conversation: f.Conversation}) {
			if err == nil && e.Kind == EventReady {
				first := !connected
				if connected = true; !first || !missed {
					continue
				}
				e.Kind = EventReset
			}
			missed = missed || err != nil
			if !yield(e, err) {
				return
			}
		}
	}
}

// UpdateTask reports the progress or the end of a task. An empty id means the task of the caller's run.
func (w *Workspace) UpdateTask(ctx context.Context, id string, change parley.TaskChange) (parley.TaskView, error) {
	id, err := w.taskOrOwn(ctx, id)
	if err != nil {
		return parley.TaskView{}, err
	}
	return untilBack(ctx, func(again bool) (parley.TaskView, error) {
		updated, err := w.client.UpdateTask(ctx, id, change)
		if again && err != nil && parley.AsError(err).Reason == parley.Conflict {
			now, failed := reading(ctx, func() (parley.TaskView, error) { return w.client.Task(ctx, id) })
			if failed == nil && change.Status != "" && now.Status == change.Status {
				return now, nil // the interrupted call had ended the task
			}
		}
		return updated, err
	})
}

// taskOrOwn returns the id of a task, or that of the task of the caller's run.
func (w *Workspace) taskOrOwn(ctx context.Context, id string) (string, error) {
	if id != "" || w.run == "" {
		if id == "" {
			return "", parley.Errorf(parley.BadInput, "the call names no task, and its caller works on none").Suggest("name the task, such as task-101")
		}
		return id, nil
	}
	run, err := reading(ctx, func() (parley.RunView, error) { return w.client.Run(ctx, w.run) })
	if err == nil && run.Task == "" {
		err = parley.Errorf(parley.BadInput, "this run works on no task").Suggest("name the task, such as task-101")
	}
	return run.Task, err
}

// Approvals returns a page of approvals, the newest first.
func (w *Workspace) Approvals(ctx context.Context, f parley.ApprovalFilter) ([]parley.Approval, error) {
	page, err := reading(ctx, func() (Page[parley.Approval], error) {
		return w.client.Approvals(ctx, ApprovalsOptions{State: f.State, Agent: f.Agent, Mine: f.Mine}, PageRequest{Limit: f.Limit})
	})
	return page.Items, err
}

// DecideApproval approves or denies a held call of another participant.
func (w *Workspace) DecideApproval(ctx context.Context, id string, d parley.Decision) (parley.Approval, error) {
	return untilBack(ctx, func(again bool) (parley.Approval, error) {
		decided, err := w.client.Decide(ctx, id, d)
		if again && err != nil && parley.AsError(err).Reason == parley.Conflict {
			now, failed := reading(ctx, func() (parley.Approval, error) { return w.client.Approval(ctx, id) })
			if failed == nil && now.DecidedBy == w.agent && (now.State != parley.ApprovalDenied) == d.Approve {
				return now, nil // the interrupted call had decided
			}
		}
		return decided, err
	})
}

// Names returns the names, kinds and roles of the participants with these ids, and no other fields. It leaves out ids that no
// participant has.
func (c *Client) Names(ctx context.Context, ids ...string) ([]parley.Presence, error) {
	r := request{method: http.MethodGet, query: query("ids", strings.Join(ids, ","))}
	page, err := callWith[Page[parley.Presence]](ctx, c, r, nil, 0, "names")
	return page.Items, err
}

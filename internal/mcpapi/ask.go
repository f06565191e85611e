package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// asks are questions that last until they are answered. The store has the question, so a task outlives this process. While its client
// asks for it, this process waits for the answer, so that the answer does not go to the inbox as well.
type asks struct {
	times
	mu   sync.Mutex
	open map[askKey]*ask
}

type askKey struct{ principal, message string }

// ask is a question whose answer this process waits for.
type ask struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed when result is there
	result  *mcp.CallToolResult
	stopped bool // the client has cancelled the task
	begun   time.Time
	ended   time.Time
	asked   *time.Timer // ends the wait if the client no longer asks for it
}

const (
	// abandonedAfter is how long an ask is waited for after the client last asked for it. Its answer then goes to the inbox.
	abandonedAfter = 3 * time.Minute
	// maxTasks is how many asks of one server are known at a time. The hub limits how many of a participant wait.
	maxTasks = 256
)

func newAsks(t times) *asks { return &asks{times: t, open: map[askKey]*ask{}} }

func (*asks) Name() string { return "ask" }

func (*asks) Matches(call *mcp.CallToolParamsRaw) bool {
	_, ok := tools.Ask(call.Name, call.Arguments)
	return ok
}

// Begin stores the question and returns before the answer comes. A question that fails at once, or needs an approval, becomes no task.
func (a *asks) Begin(ctx context.Context, c Caller, call *mcp.CallToolParamsRaw) (string, *mcp.CallToolResult, error) {
	question, _ := tools.Ask(call.Name, call.Arguments)
	if question.Wait == 0 {
		question.Wait = tools.MaxAskWait
	}
	waiting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	entry := &ask{cancel: cancel, done: make(chan struct{}), begun: time.Now()}
	stored := make(chan string, 1)
	go func() {
		defer cancel()
		contacted, err := c.Workspace.ContactTelling(waiting, question, func(stored1 parley.Contacted) { stored <- stored1.ShortName() })
		if contacted.Message != "" && parley.CodeOf(err) == parley.TimedOut {
			entry.end(a.await(waiting, c, contacted.ShortName()))
			return
		}
		entry.end(tools.ContactResult(c.participant(nil), contacted, err))
	}()
	select {
	case message := <-stored:
		a.keep(askKey{c.Principal, message}, entry)
		return message, nil, nil
	case <-entry.done:
		return "", entry.result, nil
	case <-ctx.Done():
		cancel() // the question may be stored already; its answer goes to the inbox
		return "", nil, context.Cause(ctx)
	}
}

// await waits for the outcome of a stored question, as long as it takes.
func (a *asks) await(ctx context.Context, c Caller, message string) (tools.Result, error) {
	for {
		now, err := c.Workspace.AwaitOutcome(ctx, message, a.MaxWait)
		switch {
		case ctx.Err() != nil:
			return tools.Result{}, context.Cause(ctx)
		case err != nil:
			return tools.Result{}, err
		case now.Done:
			return tools.OutcomeResult(now)
		}
	}
}

// end keeps the result of an ask.
func (e *ask) end(result tools.Result, err error) {
	if errors.Is(err, context.Canceled) {
		e.stopped = true
	}
	e.result, e.ended = resultOf(result, err), time.Now()
	close(e.done)
}

// keep remembers an ask that is waited for. If there are many, it forgets those that have ended.
func (a *asks) keep(key askKey, entry *ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, e := range a.open {
		if len(a.open) >= maxTasks && e.isDone() {
			e.asked.Stop()
			delete(a.open, other)
		}
	}
	entry.asked = time.AfterFunc(abandonedAfter, func() { a.abandon(key, entry) })
	a.open[key] = entry
}

// abandon forgets an ask whose client no longer asks for it. An answer that comes later goes to the inbox, and the client can still
// ask for the task.
func (a *asks) abandon(key askKey, entry *ask) {
	a.mu.Lock()
	if a.open[key] == entry {
		delete(a.open, key)
	}
	a.mu.Unlock()
	entry.cancel()
}

// close ends all waits.
func (a *asks) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, e := range a.open {
		e.asked.Stop()
		e.cancel()
		delete(a.open, key)
	}
}

func (e *ask) isDone() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// Get returns the state of an ask. If this process does not wait for it, because the hub was started again or the client was gone for
// long, it looks the question up, and waits again.
func (a *asks) Get(ctx context.Context, c Caller, message string) (JobState, error) {
	entry, err := a.find(ctx, c, message)
	if err != nil {
		return JobState{}, err
	}
	select {
	case <-entry.done:
	case <-time.After(a.HoldTime):
	case <-ctx.Done():
	}
	state := JobState{Status: JobWorking, Message: "waiting for the answer to " + message, Created: entry.begun, Updated: entry.begun}
	if entry.isDone() {
		state.Status, state.Message, state.Updated, state.Result = JobCompleted, "", entry.ended, entry.result
		if entry.stopped {
			state.Status, state.Result = JobCancelled, nil
		}
	}
	return state, nil
}

// find returns an ask of the caller.
func (a *asks) find(ctx context.Context, c Caller, message string) (*ask, error) {
	key := askKey{c.Principal, message}
	a.mu.Lock()
	entry, known := a.open[key]
	if known {
		entry.asked.Reset(abandonedAfter)
	}
	a.mu.Unlock()
	if known {
		return entry, nil
	}
	now, err := c.Workspace.AwaitOutcome(ctx, message, 0)
	switch {
	case parley.CodeOf(err) == parley.BadInput, parley.CodeOf(err) == parley.NotPermitted:
		return nil, ErrUnknownTask
	case err != nil:
		return nil, err
	case now.Kind != parley.AwaitedAsk || now.From != c.ID || now.Name != message:
		return nil, ErrUnknownTask
	}
	waiting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	entry = &ask{cancel: cancel, done: make(chan struct{}), begun: time.Now()}
	if now.Done {
		entry.end(tools.OutcomeResult(now))
		cancel()
	} else {
		go func() {
			defer cancel()
			entry.end(a.await(waiting, c, message))
		}()
	}
	a.keep(key, entry)
	return entry, nil
}

// Update accepts nothing: an ask needs no input of its client.
func (a *asks) Update(ctx context.Context, c Caller, message string, _ map[string]json.RawMessage) error {
	_, err := a.find(ctx, c, message)
	return err
}

// Cancel ends the wait. An answer that comes later goes to the inbox.
func (a *asks) Cancel(ctx context.Context, c Caller, message string) error {
	entry, err := a.find(ctx, c, message)
	if err == nil {
		entry.cancel()
		<-entry.done
	}
	return err
}

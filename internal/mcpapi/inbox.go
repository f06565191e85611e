package mcpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley/internal/tools"
)

// inboxWaits are calls of check_inbox that wait until a message comes. A task takes messages when its client asks for it, so a message
// is taken only when there is somebody to get it. What it took stays its result: a client that lost the answer asks again.
type inboxWaits struct {
	times
	mu    sync.Mutex
	tasks map[string]*inboxTask
	order []string // the ids of tasks, the oldest first
}

// inboxTask is a task that has been asked for.
type inboxTask struct {
	taking sync.Mutex // held while a request takes
	result *mcp.CallToolResult
	ended  time.Time

	cancelled chan struct{} // closed when the client has cancelled the task
	cancel    func()
}

func (*inboxWaits) Name() string { return "inbox" }

func (*inboxWaits) Matches(call *mcp.CallToolParamsRaw) bool {
	return tools.WaitsForInbox(call.Name, call.Arguments)
}

// Begin returns the messages that wait already, or a task.
func (*inboxWaits) Begin(ctx context.Context, c Caller, _ *mcp.CallToolParamsRaw) (string, *mcp.CallToolResult, error) {
	if c.InRun {
		result, err := tools.Call(ctx, c.participant(nil), "check_inbox", json.RawMessage(`{"wait":1}`))
		return "", resultOf(result, err), nil
	}
	result, some, err := tools.TakeInbox(ctx, c.participant(nil), 0)
	if err != nil || some {
		return "", resultOf(result, err), nil
	}
	random := strings.ToLower(rand.Text())
	return random + "-" + c.seal(random), nil, nil
}

// seal tells the tasks of one caller from those of another. It is no secret: with the task of another, a caller would take from its own
// inbox all the same.
func (c Caller) seal(random string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(c.Principal + "/" + random)) // a hash returns no error
	return hex.EncodeToString(sum.Sum(nil))
}

// check returns ErrUnknownTask for a task that is not the caller's.
func (*inboxWaits) check(c Caller, id string) error {
	random, seal, _ := strings.Cut(id, "-")
	if len(random) < 26 || seal != c.seal(random) {
		return ErrUnknownTask
	}
	return nil
}

// maxInboxTasks is how many tasks of one server are remembered.
const maxInboxTasks = 256

// task returns a task of the caller.
func (w *inboxWaits) task(c Caller, id string) (*inboxTask, error) {
	if err := w.check(c, id); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.tasks[id]; known != nil {
		return known, nil
	}
	if w.tasks == nil {
		w.tasks = map[string]*inboxTask{}
	}
	if len(w.order) >= maxInboxTasks {
		delete(w.tasks, w.order[0])
		w.order = w.order[1:]
	}
	cancelled := make(chan struct{})
	began := &inboxTask{cancelled: cancelled, cancel: sync.OnceFunc(func() { close(cancelled) })}
	w.tasks[id], w.order = began, append(w.order, id)
	return began, nil
}

func (w *inboxWaits) Get(ctx context.Context, c Caller, id string) (JobState, error) {
	now := time.Now()
	state := JobState{Status: JobWorking, Message: "waiting for a message", Created: now, Updated: now}
	task, err := w.task(c, id)
	if err != nil {
		return state, err
	}
	task.taking.Lock()
	defer task.taking.Unlock()
	if task.result == nil && !task.isCancelled() {
		err = task.take(ctx, c, w.HoldTime)
	}
	switch {
	case task.result != nil:
		state.Status, state.Message, state.Result, state.Updated = JobCompleted, "", task.result, task.ended
	case task.isCancelled():
		state.Status, state.Message = JobCancelled, ""
	case err != nil:
		return state, err
	}
	return state, nil
}

// take waits for a message until the client cancels the task. The caller holds t.taking.
func (t *inboxTask) take(ctx context.Context, c Caller, wait time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-t.cancelled:
			cancel()
		case <-ctx.Done():
		}
	}()
	result, some, err := tools.TakeInbox(ctx, c.participant(nil), wait)
	if some {
		t.result, t.ended = resultOf(result, nil), time.Now()
	}
	return err
}

func (t *inboxTask) isCancelled() bool {
	select {
	case <-t.cancelled:
		return true
	default:
		return false
	}
}

// Update accepts nothing: the task needs no input of its client.
func (w *inboxWaits) Update(_ context.Context, c Caller, id string, _ map[string]json.RawMessage) error {
	return w.check(c, id)
}

// Cancel ends the task. A task that has its messages stays completed.
func (w *inboxWaits) Cancel(_ context.Context, c Caller, id string) error {
	task, err := w.task(c, id)
	if err == nil {
		task.cancel()
	}
	return err
}

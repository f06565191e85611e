package mcpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley/internal/tools"
)

// inboxWaits are calls of check_inbox that wait until a message comes. They keep nothing: a task takes messages when its client asks
// for it, so a message is taken only when there is somebody to get it.
type inboxWaits struct {
	mu        sync.Mutex
	cancelled []string // the newest cancelled tasks
}

// maxCancelled is how many cancelled tasks are remembered. A client that still asks for one must not take messages with it.
const maxCancelled = 256

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

func (w *inboxWaits) Get(ctx context.Context, c Caller, id string) (JobState, error) {
	now := time.Now()
	state := JobState{Status: JobWorking, Message: "waiting for a message", Created: now, Updated: now}
	if err := w.check(c, id); err != nil {
		return state, err
	}
	if w.isCancelled(id) {
		state.Status, state.Message = JobCancelled, ""
		return state, nil
	}
	result, some, err := tools.TakeInbox(ctx, c.participant(nil), holdTime)
	if err != nil {
		return state, err
	}
	if some {
		state.Status, state.Message, state.Result = JobCompleted, "", resultOf(result, nil)
	}
	return state, nil
}

// Update accepts nothing: the task needs no input of its client.
func (w *inboxWaits) Update(_ context.Context, c Caller, id string, _ map[string]json.RawMessage) error {
	return w.check(c, id)
}

// Cancel remembers the task as cancelled. It has nothing to end: a task whose client does not ask for it takes nothing.
func (w *inboxWaits) Cancel(_ context.Context, c Caller, id string) error {
	if err := w.check(c, id); err != nil || w.isCancelled(id) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancelled = append(w.cancelled[max(0, len(w.cancelled)-maxCancelled+1):], id)
	return nil
}

func (w *inboxWaits) isCancelled(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.cancelled, id)
}

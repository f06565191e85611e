//go:build conformance

package conformance

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley/internal/mcpapi"
)

// jobs are calls that become tasks because the suite demands it.
type jobs struct {
	mu    sync.Mutex
	tasks map[string]*task
}

// task is a call that goes on until a time, or until it has its input.
type task struct {
	ends      time.Time
	began     time.Time
	cancelled bool
	inputs    map[string]any // that are still missing
	result    *mcp.CallToolResult
	err       *jsonrpc.Error
}

type jobArgs struct {
	Name     string  `json:"name"`
	Label    string  `json:"label"`
	Filename string  `json:"filename"`
	Seconds  float64 `json:"seconds"`
}

var jobTools = map[string]string{
	"greet": "", "slow_compute": "", "failing_job": "", "protocol_error_job": "", "confirm_delete": "", "multi_input": "", "test_tool_with_task": "",
}

// addJobTools adds the tools. Without the extension of tasks, some end at once, and others cannot be called.
func addJobTools(s *mcp.Server) {
	for name := range jobTools {
		s.AddTool(&mcp.Tool{Name: name, Description: "A tool that the suite calls.", InputSchema: json.RawMessage(anyArguments)},
			func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var args jobArgs
				_ = json.Unmarshal(req.Params.Arguments, &args)
				switch name {
				case "greet":
					return said("Hello, " + args.Name + "!"), nil
				case "test_tool_with_task":
					return asked("round-1", mcp.InputRequestMap{"user_name": nameRequest()})
				case "failing_job":
					return nil, &jsonrpc.Error{
						Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the tool needs tasks",
						Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`),
					}
				default:
					return said("done"), nil
				}
			})
	}
}

func (*jobs) Name() string { return "test" }

func (*jobs) Matches(call *mcp.CallToolParamsRaw) bool {
	_, ok := jobTools[call.Name]
	if call.Name == "test_tool_with_task" {
		return len(call.InputResponses) > 0
	}
	return ok && call.Name != "greet"
}

func (j *jobs) Begin(_ context.Context, _ mcpapi.Caller, call *mcp.CallToolParamsRaw) (string, *mcp.CallToolResult, error) {
	var args jobArgs
	_ = json.Unmarshal(call.Arguments, &args)
	began := &task{began: time.Now(), ends: time.Now(), result: said("done")}
	switch call.Name {
	case "slow_compute":
		began.ends = began.ends.Add(time.Duration(args.Seconds * float64(time.Second)))
	case "failing_job":
		began.result.IsError = true
	case "protocol_error_job":
		began.result, began.err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the job failed"}
	case "confirm_delete":
		began.inputs = map[string]any{"confirm": elicit(nameRequest())}
	case "multi_input":
		began.inputs = map[string]any{"first": elicit(nameRequest()), "second": elicit(nameRequest())}
	case "test_tool_with_task":
		began.result = said("Hello, " + filledIn(call.InputResponses, "user_name", "name") + "!")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.tasks == nil {
		j.tasks = map[string]*task{}
	}
	id := strconv.Itoa(len(j.tasks) + 1)
	j.tasks[id] = began
	return id, nil, nil
}

func elicit(p *mcp.ElicitParams) map[string]any {
	return map[string]any{"method": "elicitation/create", "params": p}
}

// with calls do with a task, if there is one.
func (j *jobs) with(id string, do func(*task)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	t, ok := j.tasks[id]
	if !ok {
		return mcpapi.ErrUnknownTask
	}
	do(t)
	return nil
}

func (j *jobs) Get(_ context.Context, _ mcpapi.Caller, id string) (state mcpapi.JobState, err error) {
	err = j.with(id, func(t *task) {
		state = mcpapi.JobState{Created: t.began, Updated: t.began}
		switch {
		case t.cancelled:
			state.Status = mcpapi.JobCancelled
		case len(t.inputs) > 0:
			state.Status, state.Inputs = mcpapi.JobInput, maps.Clone(t.inputs)
		case time.Now().Before(t.ends):
			state.Status = mcpapi.JobWorking
		case t.err != nil:
			state.Status, state.Error = mcpapi.JobFailed, t.err
		default:
			state.Status, state.Result = mcpapi.JobCompleted, t.result
		}
	})
	return state, err
}

func (j *jobs) Update(_ context.Context, _ mcpapi.Caller, id string, responses map[string]json.RawMessage) error {
	return j.with(id, func(t *task) {
		maps.DeleteFunc(t.inputs, func(key string, _ any) bool { return slices.Contains(slices.Collect(maps.Keys(responses)), key) })
	})
}

func (j *jobs) Cancel(_ context.Context, _ mcpapi.Caller, id string) error {
	return j.with(id, func(t *task) { t.cancelled = !time.Now().After(t.ends) || len(t.inputs) > 0 })
}

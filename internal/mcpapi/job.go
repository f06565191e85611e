package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension is the name of the extension by which a call becomes a task of the protocol: the client gets a task at once, and
// asks for its state until the call has ended.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Job is a sort of calls that become tasks for clients that declare the extension. A task of the protocol is not a task of Parley.
type Job interface {
	// Name is the first part of the ids of its tasks. It has no hyphen.
	Name() string
	// Matches reports whether a call of a tool becomes a task.
	Matches(call *mcp.CallToolParamsRaw) bool
	// Begin begins a call. When it returns an id, Get finds the task, also after a restart. If the call has ended already, Begin
	// returns its result instead.
	Begin(ctx context.Context, c Caller, call *mcp.CallToolParamsRaw) (id string, ended *mcp.CallToolResult, err error)
	// Get returns the state of a task. If the task goes on, Get may wait a while for its end. It returns ErrUnknownTask for a task
	// that does not exist or is another caller's.
	Get(ctx context.Context, c Caller, id string) (JobState, error)
	// Update passes on what the client answers to requests for input. It returns ErrUnknownTask as Get does.
	Update(ctx context.Context, c Caller, id string, responses map[string]json.RawMessage) error
	// Cancel ends a task. It does nothing if the task has ended. It returns ErrUnknownTask as Get does.
	Cancel(ctx context.Context, c Caller, id string) error
}

// ErrUnknownTask is the error for a task that does not exist, or that another caller began.
var ErrUnknownTask = errors.New("there is no such task")

// The states of a task.
const (
	JobWorking   = "working"
	JobInput     = "input_required"
	JobCompleted = "completed"
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// JobState is the state of a task.
type JobState struct {
	Status  string
	Message string // the state in words
	Created time.Time
	Updated time.Time

	Result *mcp.CallToolResult // of a completed task
	Error  *jsonrpc.Error      // of a failed task
	Inputs map[string]any      // what a task that needs input asks for
}

// pollEvery is how often a client is to ask for the state of a task.
const pollEvery = time.Second

// taskFields are the fields of a task in results.
type taskFields struct {
	ResultType     string `json:"resultType"`
	TaskID         string `json:"taskId"`
	Status         string `json:"status"`
	StatusMessage  string `json:"statusMessage,omitempty"`
	CreatedAt      string `json:"createdAt"`
	LastUpdatedAt  string `json:"lastUpdatedAt"`
	TTL            *int64 `json:"ttlMs"` // null: as long as the hub keeps it
	PollIntervalMS int64  `json:"pollIntervalMs"`
}

func fieldsOf(resultType, id string, s JobState) taskFields {
	return taskFields{
		ResultType: resultType, TaskID: id, Status: s.Status, StatusMessage: s.Message,
		CreatedAt: s.Created.UTC().Format(time.RFC3339Nano), LastUpdatedAt: s.Updated.UTC().Format(time.RFC3339Nano),
		PollIntervalMS: pollEvery.Milliseconds(),
	}
}

// createdTask is the result of a call that has become a task.
type createdTask struct {
	mcp.ResultBase
	taskFields
}

// detailedTask is the result of tasks/get.
type detailedTask struct {
	mcp.ResultBase
	taskFields
	Result        *mcp.CallToolResult `json:"result,omitempty"`
	Error         *jsonrpc.Error      `json:"error,omitempty"`
	InputRequests map[string]any      `json:"inputRequests,omitempty"`
}

// taskAck is the result of tasks/update and tasks/cancel.
type taskAck struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

type taskParams struct {
	mcp.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// jobs are the sorts of calls that become tasks.
type jobs []Job

func newJobs(o Options) jobs {
	return append(jobs{newAsks(o.times), &inboxWaits{times: o.times}}, o.Jobs...)
}

// close ends what goes on for the clients of a server. Their tasks can be asked for again.
func (j jobs) close() {
	for _, job := range j {
		if c, ok := job.(interface{ close() }); ok {
			c.close()
		}
	}
}

// beginTasks turns calls into tasks for clients that declare the extension in the request.
func (j jobs) beginTasks(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || !declaresTasks(req.GetParams()) {
			return next(ctx, method, req)
		}
		for _, job := range j {
			if !job.Matches(call) {
				continue
			}
			begun := time.Now()
			id, ended, err := job.Begin(ctx, callerOf(ctx), call)
			if err != nil {
				return nil, rpcError(err)
			}
			if ended != nil {
				return endedCall{ended}, nil
			}
			return &createdTask{taskFields: fieldsOf("task", job.Name()+"-"+id, JobState{Status: JobWorking, Created: begun, Updated: begun})}, nil
		}
		return next(ctx, method, req)
	}
}

// endedCall is the result of a call that could have become a task and has ended at once. The SDK marks only the results of its own
// handlers as complete.
type endedCall struct{ *mcp.CallToolResult }

// MarshalJSON returns the result with the mark.
func (e endedCall) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(e.CallToolResult)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"resultType":"complete",`), raw[1:]...), nil
}

// declaresTasks reports whether a request declares the extension.
func declaresTasks(params mcp.Params) bool {
	capabilities, _ := metaOf(params)[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, declared := extensions[tasksExtension]
	return declared
}

// metaOf returns the metadata of a request. Requests that need no parameters may have none.
func metaOf(params mcp.Params) map[string]any {
	if v := reflect.ValueOf(params); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return params.GetMeta()
}

// addMethods adds the methods of the extension to a server.
func (j jobs) addMethods(s *mcp.Server) {
	for method, do := range map[string]func(context.Context, *taskParams) (mcp.Result, error){
		"tasks/get": j.get, "tasks/update": j.update, "tasks/cancel": j.cancel,
	} {
		handle := func(ctx context.Context, _ *mcp.ServerSession, params *taskParams) (mcp.Result, error) {
			if params == nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request names no task"}
			}
			if !declaresTasks(params) {
				return nil, errNotDeclared()
			}
			result, err := do(ctx, params)
			if errors.Is(err, ErrUnknownTask) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: ErrUnknownTask.Error()}
			}
			if err != nil {
				return nil, rpcError(err)
			}
			return result, nil
		}
		if err := mcp.AddReceivingCustomMethod(s, method, handle); err != nil {
			panic(err) // the SDK has a method of this name now, so this code is to be replaced
		}
	}
}

// nameHeader names what a request of a revision without sessions is about. For a method of the extension it is the task.
const nameHeader = "Mcp-Name"

// checkTaskName refuses a request about a task over HTTP whose header names another task. The SDK checks the methods that it knows.
func checkTaskName(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		task, ok := req.GetParams().(*taskParams)
		if extra := req.GetExtra(); ok && task != nil && extra != nil && extra.Header != nil && extra.Header.Get(nameHeader) != task.TaskID {
			return nil, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "the header " + nameHeader + " does not name the task"}
		}
		return next(ctx, method, req)
	}
}

// find returns the job of a task, and the rest of the task's id.
func (j jobs) find(task string) (Job, string, error) {
	name, id, found := strings.Cut(task, "-")
	for _, job := range j {
		if found && job.Name() == name {
			return job, id, nil
		}
	}
	return nil, "", ErrUnknownTask
}

func (j jobs) get(ctx context.Context, params *taskParams) (mcp.Result, error) {
	job, id, err := j.find(params.TaskID)
	if err != nil {
		return nil, err
	}
	state, err := job.Get(ctx, callerOf(ctx), id)
	return &detailedTask{
		taskFields: fieldsOf("complete", params.TaskID, state), Result: state.Result, Error: state.Error, InputRequests: state.Inputs,
	}, err
}

func (j jobs) update(ctx context.Context, params *taskParams) (mcp.Result, error) {
	job, id, err := j.find(params.TaskID)
	if err == nil {
		err = job.Update(ctx, callerOf(ctx), id, params.InputResponses)
	}
	return &taskAck{ResultType: "complete"}, err
}

func (j jobs) cancel(ctx context.Context, params *taskParams) (mcp.Result, error) {
	job, id, err := j.find(params.TaskID)
	if err == nil {
		err = job.Cancel(ctx, callerOf(ctx), id)
	}
	return &taskAck{ResultType: "complete"}, err
}

// errNotDeclared is the error for a client that uses the extension without declaring it.
func errNotDeclared() error {
	data, err := json.Marshal(map[string]any{
		"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: map[string]any{}}},
	})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the request does not declare " + tasksExtension, Data: data}
}

package mcpapi

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// definition returns a tool as clients list it.
func definition(t tools.Tool) *mcp.Tool {
	d := &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Schema, OutputSchema: t.Result}
	if t.Reads {
		d.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}
	}
	return d
}

// callTool returns the handler of a tool. The tool itself checks its arguments, so that an error names what is wrong in the words of
// the hub.
func callTool(t tools.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		steps := progressOf(ctx, req)
		defer steps.end()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		c := callerOf(ctx)
		waits := func(text string) {
			steps.begin(text)
			c.endWithCredential(ctx, cancel)
		}
		result, err := tools.Call(ctx, c.participant(waits), t.Name, req.Params.Arguments)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return resultOf(result, err), nil
	}
}

// errorData is the structured result of a call that failed.
type errorData struct {
	Code        parley.Code   `json:"code"`
	Reason      parley.Reason `json:"reason,omitempty"`
	Message     string        `json:"message"`
	Suggestion  string        `json:"suggestion,omitempty"`
	Recoverable bool          `json:"recoverable"`
	RetryAfter  float64       `json:"retry_after,omitempty"`
}

// resultOf returns the result of a tool as clients read it: the text, and the same as a value.
func resultOf(result tools.Result, err error) *mcp.CallToolResult {
	text, data := partsOf(result, err)
	return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: data}
}

// partsOf returns the text and the value of a result or an error.
func partsOf(result tools.Result, err error) (text string, data any) {
	if err == nil {
		return result.Text, result.Data
	}
	e, text := parley.AsError(err), tools.Failure(err)
	return text, errorData{e.Code, e.Reason, text, tools.Suggestion(e.Suggestion), e.Recoverable, e.RetryAfter.Seconds()}
}

// progressEvery is the interval of progress reports while a call waits. It is shorter than the silence after which clients end a call.
const progressEvery = 10 * time.Second

// progress reports to the client of a call that the call still waits.
type progress struct {
	ctx   context.Context
	token any
	total time.Duration
	send  func(context.Context, *mcp.ProgressNotificationParams) error

	once sync.Once
	done chan struct{}
	idle sync.WaitGroup
}

// progressOf returns the reports of a call. Nothing is reported if the client asked for none.
func progressOf(ctx context.Context, req *mcp.CallToolRequest) *progress {
	return &progress{ctx: ctx, token: req.Params.GetProgressToken(), total: callerOf(ctx).maxWait, send: req.Session.NotifyProgress, done: make(chan struct{})}
}

// begin starts the reports: at once, and then from time to time.
func (p *progress) begin(text string) {
	if p.token == nil {
		return
	}
	p.once.Do(func() {
		p.report(text, 0)
		p.idle.Go(func() {
			tick := time.NewTicker(progressEvery)
			defer tick.Stop()
			for waited := progressEvery; ; waited += progressEvery {
				select {
				case <-tick.C:
					p.report(text, waited)
				case <-p.done:
					return
				}
			}
		})
	})
}

// report sends one report. If it cannot be sent, the call goes on: its result matters, not the report.
func (p *progress) report(text string, waited time.Duration) {
	_ = p.send(p.ctx, &mcp.ProgressNotificationParams{ProgressToken: p.token, Message: text, Progress: waited.Seconds(), Total: p.total.Seconds()})
}

// end stops the reports. The call must not return its result before, because no report may follow it.
func (p *progress) end() {
	close(p.done)
	p.idle.Wait()
}

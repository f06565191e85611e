package command

import (
	"strings"

	"github.com/parley-hub/parley"
)

// claude is an event of Claude Code's stream-json. If there are several results, the last one counts.
type claude struct {
	Type    string  `json:"type"`
	Subtype string  `json:"subtype"`
	Session string  `json:"session_id"`
	Parent  *string `json:"parent_tool_use_id"` // set if the event belongs to a subagent
	Message struct {
		Content []contentPart `json:"content"`
	} `json:"message"`
	APIError bool `json:"is_api_error_message"`

	// The fields of an event system/api_retry.
	ErrorStatus int `json:"error_status"`
	Error       any `json:"error"`

	// The fields of a result.
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	Status  int      `json:"api_error_status"`
	Cost    float64  `json:"total_cost_usd"` // of the whole session
	Usage   struct { // of the run, without the usage of subagents
		Input   int64 `json:"input_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Output  int64 `json:"output_tokens"`
	} `json:"usage"`
	ModelUsage map[string]struct { // of the whole session
		Input   int64 `json:"inputTokens"`
		Written int64 `json:"cacheCreationInputTokens"`
		Read    int64 `json:"cacheReadInputTokens"`
		Output  int64 `json:"outputTokens"`
	} `json:"modelUsage"`
}

// claudeEvent adds an event to a transcript, and returns its text for watchers.
func claudeEvent(t *transcript, e claude) string {
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			t.session = e.Session
		}
		if e.Subtype == "api_retry" {
			text, _ := e.Error.(string)
			t.noteRetry(e.ErrorStatus, text)
		}
	case "assistant":
		if e.Parent == nil && !e.APIError {
			return joinTexts(e.Message.Content)
		}
	case "result":
		claudeResult(t, e)
	}
	return ""
}

func claudeResult(t *transcript, e claude) {
	t.done = true
	t.usage = parley.Usage{InputTokens: e.Usage.Input + e.Usage.Written + e.Usage.Read, OutputTokens: e.Usage.Output, Cost: e.Cost}
	for _, m := range e.ModelUsage {
		t.total = t.total.Plus(parley.Usage{InputTokens: m.Input + m.Written + m.Read, OutputTokens: m.Output})
		t.total.Cost = e.Cost
	}
	if e.IsError || e.Subtype != "" && e.Subtype != "success" {
		t.fail(e.Status, e.Result, strings.Join(e.Errors, "; "), e.Subtype)
		return
	}
	t.text, t.session = []byte(e.Result), e.Session
}

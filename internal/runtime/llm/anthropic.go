package llm

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// anthropicDialogue is a dialogue by the Messages API.
type anthropicDialogue struct {
	api    anthropic.MessageService
	params anthropic.MessageNewParams
}

func (r *Runtime) newAnthropicDialogue(prompt parley.Prompt, s settings, p Provider, key string, offered []tools.Tool) dialogue {
	m := &anthropicDialogue{
		api: anthropic.NewMessageService(
			option.WithBaseURL(p.BaseURL), option.WithAPIKey(key), option.WithHTTPClient(r.client),
			option.WithMaxRetries(0), option.WithoutOpenTelemetry(),
		),
		params: anthropic.MessageNewParams{
			Model: s.Model, MaxTokens: s.MaxTokens,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt.User))},
		},
	}
	if s.MaxTokens == 0 {
		m.params.MaxTokens = defaultMaxTokens
	}
	if prompt.System != "" {
		m.params.System = []anthropic.TextBlockParam{{Text: prompt.System}}
	}
	if s.Temperature != nil {
		m.params.Temperature = anthropic.Float(*s.Temperature)
	}
	for _, t := range offered {
		m.params.Tools = append(m.params.Tools, anthropicTool(t))
	}
	return m
}

func anthropicTool(t tools.Tool) anthropic.ToolUnionParam {
	var schema anthropic.ToolInputSchemaParam
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		panic(err) // schemas are constants
	}
	return anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
		Name: t.Name, Description: anthropic.String(t.Description), InputSchema: schema,
	}}
}

func (m *anthropicDialogue) next(ctx context.Context, l listener) (turn, error) {
	stream := m.api.NewStreaming(ctx, m.params)
	defer func() { _ = stream.Close() }()
	var message anthropic.Message
	complete := false
	for stream.Next() {
		event := stream.Current()
		if err := message.Accumulate(event); err != nil {
			return anthropicTurn(message), err
		}
		switch event.Type {
		case "message_start":
			if err := l.accepted(); err != nil {
				return anthropicTurn(message), err
			}
		case "content_block_delta":
			if event.Delta.Type == "text_delta" {
				l.text(event.Delta.Text)
			}
		case "message_stop":
			complete = true
		}
	}
	if err := stream.Err(); err != nil {
		return anthropicTurn(message), err
	}
	if !complete {
		return anthropicTurn(message), errCutOff
	}
	m.params.Messages = append(m.params.Messages, message.ToParam())
	return anthropicTurn(message), nil
}

func anthropicTurn(m anthropic.Message) turn {
	u := m.Usage
	t := turn{Usage: parley.Usage{
		InputTokens:  u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens,
		OutputTokens: u.OutputTokens,
	}}
	var text strings.Builder
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			t.calls = append(t.calls, toolCall{id: block.ID, name: block.Name, args: block.Input})
		}
	}
	t.text = text.String()
	switch m.StopReason {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		t.ending = cutOff
	case anthropic.StopReasonRefusal:
		t.ending = refused
	}
	return t
}

func (m *anthropicDialogue) addResults(outcomes []toolResult) {
	var blocks []anthropic.ContentBlockParamUnion
	for _, o := range outcomes {
		blocks = append(blocks, anthropic.NewToolResultBlock(o.id, o.text, o.failed))
	}
	m.params.Messages = append(m.params.Messages, anthropic.NewUserMessage(blocks...))
}

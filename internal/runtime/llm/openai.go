package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// completions is a talk by the Chat Completions API.
type completions struct {
	api    openai.ChatCompletionService
	params openai.ChatCompletionNewParams
}

func (r *Runtime) startOpenAI(prompt parley.Prompt, s settings, p Provider, key string, offered []tools.Tool) dialogue {
	options := []option.RequestOption{option.WithBaseURL(p.BaseURL), option.WithHTTPClient(r.client), option.WithMaxRetries(0)}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	c := &completions{
		api: openai.NewChatCompletionService(options...),
		params: openai.ChatCompletionNewParams{
			Model:         s.Model,
			StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		},
	}
	if prompt.System != "" {
		c.params.Messages = append(c.params.Messages, openai.SystemMessage(prompt.System))
	}
	c.params.Messages = append(c.params.Messages, openai.UserMessage(prompt.User))
	switch {
	case s.MaxTokens > 0 && p.official():
		c.params.MaxCompletionTokens = openai.Int(s.MaxTokens)
	case s.MaxTokens > 0:
		c.params.MaxTokens = openai.Int(s.MaxTokens)
	}
	if s.Temperature != nil {
		c.params.Temperature = openai.Float(*s.Temperature)
	}
	for _, t := range offered {
		c.params.Tools = append(c.params.Tools, openaiTool(t))
	}
	return c
}

func openaiTool(t tools.Tool) openai.ChatCompletionToolUnionParam {
	var schema shared.FunctionParameters
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		panic(err) // schemas are constants
	}
	return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: t.Name, Description: openai.String(t.Description), Parameters: schema,
	})
}

func (c *completions) next(ctx context.Context, l listener) (turn, error) {
	stream := c.api.NewStreaming(ctx, c.params)
	defer func() { _ = stream.Close() }()
	var answer chunks
	for first := true; stream.Next(); first = false {
		if first {
			if err := l.begun(); err != nil {
				return answer.turn(), err
			}
		}
		l.said(answer.add(stream.Current()))
	}
	if err := stream.Err(); err != nil {
		return answer.turn(), err
	}
	if answer.finish == "" {
		return answer.turn(), errCutOff
	}
	c.params.Messages = append(c.params.Messages, answer.message())
	return answer.turn(), nil
}

func (c *completions) addResults(outcomes []toolResult) {
	for _, o := range outcomes {
		c.params.Messages = append(c.params.Messages, openai.ToolMessage(o.text, o.id))
	}
}

// chunks is a turn as it comes in.
type chunks struct {
	text, refusal strings.Builder
	calls         []*fragment
	at            map[int64]*fragment // by the index that the API gives them
	finish        string
	usage         parley.Usage
}

// fragment is a call of which more may come.
type fragment struct {
	id, name string
	args     strings.Builder
	extra    map[string]any // what else a provider wants to have back, such as Gemini's signatures
}

// add takes a chunk, and returns the text in it.
func (c *chunks) add(chunk openai.ChatCompletionChunk) string {
	if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
		c.usage = parley.Usage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens}
		c.usage.Cost, _ = strconv.ParseFloat(u.JSON.ExtraFields["cost"].Raw(), 64) // OpenRouter says it
	}
	if len(chunk.Choices) == 0 {
		return ""
	}
	choice := chunk.Choices[0]
	if choice.FinishReason != "" {
		c.finish = choice.FinishReason
	}
	c.refusal.WriteString(choice.Delta.Refusal)
	for _, piece := range choice.Delta.ToolCalls {
		c.addCall(piece)
	}
	c.text.WriteString(choice.Delta.Content)
	return choice.Delta.Content
}

// addCall takes a piece of a call. Some servers give every call the same index, so that a new id begins a
// new call too.
func (c *chunks) addCall(piece openai.ChatCompletionChunkChoiceDeltaToolCall) {
	f := c.at[piece.Index]
	if f == nil || piece.ID != "" && piece.ID != f.id {
		f = &fragment{id: piece.ID}
		if f.id == "" {
			f.id = fmt.Sprintf("call_%d", len(c.calls)+1)
		}
		if c.at == nil {
			c.at = map[int64]*fragment{}
		}
		c.at[piece.Index] = f
		c.calls = append(c.calls, f)
	}
	f.name += piece.Function.Name
	f.args.WriteString(piece.Function.Arguments)
	if extra, ok := piece.JSON.ExtraFields["extra_content"]; ok {
		f.extra = map[string]any{"extra_content": json.RawMessage(extra.Raw())}
	}
}

func (c *chunks) turn() turn {
	t := turn{text: c.text.String(), why: c.refusal.String(), Usage: c.usage}
	for _, f := range c.calls {
		t.calls = append(t.calls, toolCall{id: f.id, name: f.name, args: json.RawMessage(f.args.String())})
	}
	switch {
	case c.finish == "content_filter" || t.why != "":
		t.ending = refused
	case c.finish == "length":
		t.ending = length
	}
	return t
}

// message is the turn as it goes into the next request.
func (c *chunks) message() openai.ChatCompletionMessageParamUnion {
	var m openai.ChatCompletionAssistantMessageParam
	if c.text.Len() > 0 {
		m.Content.OfString = openai.String(c.text.String())
	}
	for _, f := range c.calls {
		param := openai.ChatCompletionMessageFunctionToolCallParam{
			ID:       f.id,
			Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: f.name, Arguments: f.args.String()},
		}
		param.SetExtraFields(f.extra)
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &param})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &m}
}

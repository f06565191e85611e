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

// openAIDialogue is a dialogue by the Chat Completions API.
type openAIDialogue struct {
	api    openai.ChatCompletionService
	params openai.ChatCompletionNewParams
}

func (r *Runtime) newOpenAIDialogue(prompt parley.Prompt, s settings, p Provider, key string, offered []tools.Tool) dialogue {
	options := []option.RequestOption{option.WithBaseURL(p.BaseURL), option.WithHTTPClient(r.client), option.WithMaxRetries(0)}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	c := &openAIDialogue{
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
	case s.MaxTokens > 0 && p.isOpenAI():
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

func (c *openAIDialogue) next(ctx context.Context, l listener) (turn, error) {
	stream := c.api.NewStreaming(ctx, c.params)
	defer func() { _ = stream.Close() }()
	var answer chunks
	for first := true; stream.Next(); first = false {
		if first {
			if err := l.accepted(); err != nil {
				return answer.turn(), err
			}
		}
		l.text(answer.add(stream.Current()))
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

func (c *openAIDialogue) addResults(outcomes []toolResult) {
	for _, o := range outcomes {
		c.params.Messages = append(c.params.Messages, openai.ToolMessage(o.text, o.id))
	}
}

// chunks collects the chunks of a turn.
type chunks struct {
	text, refusal strings.Builder
	calls         []*fragment
	byIndex       map[int64]*fragment // by the index that the API gives them
	finish        string
	usage         parley.Usage
}

// fragment is the part of a tool call that has arrived so far.
type fragment struct {
	id, name    string
	args        strings.Builder
	extraFields map[string]any // fields that the provider must get back with the call, such as the signatures of Gemini
}

// add adds a chunk, and returns the text in it.
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

// addCall adds a piece of a tool call. Some servers give every call the same index, so a new id also begins a new call.
func (c *chunks) addCall(piece openai.ChatCompletionChunkChoiceDeltaToolCall) {
	f := c.byIndex[piece.Index]
	if f == nil || piece.ID != "" && piece.ID != f.id {
		f = &fragment{id: piece.ID}
		if f.id == "" {
			f.id = fmt.Sprintf("call_%d", len(c.calls)+1)
		}
		if c.byIndex == nil {
			c.byIndex = map[int64]*fragment{}
		}
		c.byIndex[piece.Index] = f
		c.calls = append(c.calls, f)
	}
	f.name += piece.Function.Name
	f.args.WriteString(piece.Function.Arguments)
	if extra, ok := piece.JSON.ExtraFields["extra_content"]; ok {
		f.extraFields = map[string]any{"extra_content": json.RawMessage(extra.Raw())}
	}
}

func (c *chunks) turn() turn {
	t := turn{text: c.text.String(), refusal: c.refusal.String(), Usage: c.usage}
	for _, f := range c.calls {
		t.calls = append(t.calls, toolCall{id: f.id, name: f.name, args: json.RawMessage(f.args.String())})
	}
	switch {
	case c.finish == "content_filter" || t.refusal != "":
		t.ending = refused
	case c.finish == "length":
		t.ending = cutOff
	}
	return t
}

// message returns the turn as a message for the next request.
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
		param.SetExtraFields(f.extraFields)
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &param})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &m}
}

//go:build conformance

package conformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The suite demands the tools, resources and prompts in this and the next files by name.

// The smallest picture and sound.
var (
	picture = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	sound   = decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

func decoded(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func shown(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func embedded(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource."}}
}

const anyArguments = `{"type":"object"}`

// addTools adds the tools that the suite calls.
func addTools(s *mcp.Server) {
	image := &mcp.ImageContent{Data: picture, MIMEType: "image/png"}
	for name, call := range map[string]mcp.ToolHandler{
		"test_simple_text":                           shown(&mcp.TextContent{Text: "This is a simple text response for testing."}),
		"test_image_content":                         shown(image),
		"test_audio_content":                         shown(&mcp.AudioContent{Data: sound, MIMEType: "audio/wav"}),
		"test_embedded_resource":                     shown(embedded("test://embedded-resource")),
		"test_multiple_content_types":                shown(&mcp.TextContent{Text: "several"}, image, embedded("test://mixed")),
		"test_tool_with_logging":                     logging,
		"test_logging_tool":                          logging,
		"test_tool_with_progress":                    progress,
		"test_error_handling":                        failing,
		"test_sampling":                              sampling,
		"test_elicitation":                           elicitation(object("username", `{"type":"string"}`)),
		"test_elicitation_sep1034_defaults":          elicitation(defaults),
		"test_elicitation_sep1330_enums":             elicitation(enums),
		"test_reconnection":                          reconnection,
		"test_missing_capability":                    missingCapability,
		"test_streaming_elicitation":                 shown(&mcp.TextContent{Text: "only notifications"}),
		"test_trigger_tool_change":                   changeTools(s),
		"test_trigger_prompt_change":                 changePrompts(s),
		"test_input_required_result_elicitation":     askName,
		"test_input_required_result_sampling":        askModel,
		"test_input_required_result_list_roots":      askRoots,
		"test_input_required_result_request_state":   askState,
		"test_input_required_result_multiple_inputs": askAll,
		"test_input_required_result_multi_round":     askTwice,
		"test_input_required_result_tampered_state":  askSealed,
		"test_input_required_result_capabilities":    askSupported,
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: "A tool that the suite calls.", InputSchema: json.RawMessage(anyArguments)}, call)
	}
	s.AddTool(&mcp.Tool{Name: "json_schema_2020_12_tool", Description: "A tool whose schema is kept.", InputSchema: json.RawMessage(wideSchema)},
		shown(&mcp.TextContent{Text: "called"}))
	s.AddTool(&mcp.Tool{Name: "test_x_mcp_header", Description: "A tool with an argument in a header.", InputSchema: json.RawMessage(headerSchema)},
		shown(&mcp.TextContent{Text: "called"}))
}

const headerSchema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`

const wideSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

func logging(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, text := range []string{"begun", "underway", "done"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: text}); err != nil { //nolint:staticcheck // older revisions have it
			return nil, err
		}
	}
	return said("logged"), nil
}

func progress(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
			return nil, err
		}
	}
	return said(fmt.Sprint(token)), nil
}

func failing(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	result := said("this tool always fails")
	result.IsError = true
	return result, nil
}

func sampling(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct {
		Prompt string `json:"prompt"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	result, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{ //nolint:staticcheck // older revisions have it
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: args.Prompt}}}, MaxTokens: 100,
	})
	if err != nil {
		return nil, err
	}
	text, _ := result.Content.(*mcp.TextContent)
	if text == nil {
		return nil, errors.New("the client answers with no text")
	}
	return said("LLM response: " + text.Text), nil
}

// elicitation returns a tool that asks the client's user.
func elicitation(schema json.RawMessage) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please fill this in.", RequestedSchema: schema})
		if err != nil {
			return nil, err
		}
		return said(fmt.Sprintf("Elicitation result: action=%s, content=%v", result.Action, result.Content)), nil
	}
}

// object returns the schema of an object with one required property.
func object(name, schema string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:%s},"required":[%q]}`, name, schema, name))
}

var defaults = json.RawMessage(`{"type":"object","properties":{
"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)

var enums = json.RawMessage(`{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"}]}}}}`)

// reconnection ends the stream of the answer, and answers when the client has connected again.
func reconnection(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	return said("connected again"), nil
}

func missingCapability(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if has := req.ClientCapabilities(); has != nil && has.Sampling != nil {
		return said("the client has it"), nil
	}
	return nil, &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client does not declare sampling",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

// changeTools adds a tool to the server, which tells its clients.
func changeTools(s *mcp.Server) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(&mcp.Tool{Name: "added", Description: "A tool that was added.", InputSchema: json.RawMessage(anyArguments)}, shown())
		return said("changed"), nil
	}
}

func changePrompts(s *mcp.Server) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "added", Description: "A prompt that the suite gets."}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
		return said("changed"), nil
	}
}

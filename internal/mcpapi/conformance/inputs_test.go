//go:build conformance

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools in this file need input of their client: they answer with requests, and the client calls them again with responses.

func nameRequest() *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "What is your name?", RequestedSchema: object("name", `{"type":"string"}`)}
}

func modelRequest(text string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}, MaxTokens: 100}
}

// asked returns a result that asks for input.
func asked(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

// filledIn returns a field of what the user accepted, or "".
func filledIn(responses mcp.InputResponseMap, request, field string) string {
	answer, ok := responses[request].(*mcp.ElicitResult)
	if !ok || answer == nil || answer.Action != "accept" {
		return ""
	}
	text, _ := answer.Content[field].(string)
	return text
}

func confirmed(responses mcp.InputResponseMap) bool {
	answer, ok := responses["confirm"].(*mcp.ElicitResult)
	return ok && answer != nil && answer.Action == "accept"
}

// modelText returns what the client's model said.
func modelText(responses mcp.InputResponseMap, request string) (string, bool) {
	answer, ok := responses[request].(*mcp.CreateMessageWithToolsResult)
	if !ok || answer == nil {
		return "", false
	}
	for _, part := range answer.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			return text.Text, true
		}
	}
	return "", true
}

func askName(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name := filledIn(req.Params.InputResponses, "user_name", "name"); name != "" {
		return said("Hello, " + name + "!"), nil
	}
	return asked("", mcp.InputRequestMap{"user_name": nameRequest()})
}

func askModel(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if text, ok := modelText(req.Params.InputResponses, "capital_question"); ok {
		return said("Sampling response: " + text), nil
	}
	return asked("", mcp.InputRequestMap{"capital_question": modelRequest("What is the capital of France?")})
}

func askRoots(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if roots, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok && roots != nil {
		return said(fmt.Sprintf("The client has %d roots.", len(roots.Roots))), nil
	}
	return asked("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
}

// sealed is a state that the server gave out. The suite changes it at the end.
const sealed = "sealed"

func askState(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if confirmed(req.Params.InputResponses) && req.Params.RequestState == sealed {
		return said("state-ok: the state came back"), nil
	}
	return asked(sealed, mcp.InputRequestMap{"confirm": &mcp.ElicitParams{Message: "Please confirm.", RequestedSchema: object("ok", `{"type":"boolean"}`)}})
}

func askSealed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if state := req.Params.RequestState; state != "" && state != sealed {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "somebody changed the state"}
	}
	return askState(ctx, req)
}

func askAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := req.Params.InputResponses
	name := filledIn(given, "user_name", "name")
	greeting, greeted := modelText(given, "greeting")
	roots, listed := given["client_roots"].(*mcp.ListRootsResult)
	if name != "" && greeted && listed {
		return said(fmt.Sprintf("%s %s, %d roots", greeting, name, len(roots.Roots))), nil
	}
	return asked("all", mcp.InputRequestMap{"user_name": nameRequest(), "greeting": modelRequest("Greet."), "client_roots": &mcp.ListRootsParams{}})
}

func askTwice(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given, state := req.Params.InputResponses, req.Params.RequestState
	name, second := strings.CutPrefix(state, "second ")
	switch {
	case second:
		return said(name + " likes " + filledIn(given, "step2", "color")), nil
	case state == "first":
		return asked("second "+filledIn(given, "step1", "name"), mcp.InputRequestMap{
			"step2": &mcp.ElicitParams{Message: "Which color do you like?", RequestedSchema: object("color", `{"type":"string"}`)},
		})
	default:
		return asked("first", mcp.InputRequestMap{"step1": nameRequest()})
	}
}

func askSupported(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return said("answered"), nil
	}
	requests := mcp.InputRequestMap{}
	if has := req.ClientCapabilities(); has != nil {
		if has.Elicitation != nil {
			requests["user_name"] = nameRequest()
		}
		if has.Sampling != nil {
			requests["greeting"] = modelRequest("Greet.")
		}
		if has.RootsV2 != nil {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return said("the client can answer nothing"), nil
	}
	return asked("", requests)
}

func askContext(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if given := filledIn(req.Params.InputResponses, "user_context", "context"); given != "" {
		return promptOf(&mcp.TextContent{Text: "Context: " + given}), nil
	}
	return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
		"user_context": &mcp.ElicitParams{Message: "Please give the context.", RequestedSchema: json.RawMessage(object("context", `{"type":"string"}`))},
	}}, nil
}

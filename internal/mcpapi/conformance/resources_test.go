//go:build conformance

package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// configure switches on what the hub's own server does not have.
func configure(o *mcp.ServerOptions) {
	o.Capabilities.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // older revisions have it
	o.Capabilities.Completions = &mcp.CompletionCapabilities{}
	o.Capabilities.Tools.ListChanged, o.Capabilities.Prompts.ListChanged, o.Capabilities.Resources.ListChanged = true, true, true
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
	}
}

func contentsOf(c mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		c.URI = req.Params.URI
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
	}
}

// addMore adds the resources and prompts that the suite reads.
func addMore(s *mcp.Server) {
	text := mcp.ResourceContents{MIMEType: "text/plain", Text: "The text of a resource."}
	s.AddResource(&mcp.Resource{Name: "text", URI: "test://static-text", MIMEType: "text/plain"}, contentsOf(text))
	s.AddResource(&mcp.Resource{Name: "watched", URI: "test://watched-resource", MIMEType: "text/plain"}, contentsOf(text))
	s.AddResource(&mcp.Resource{Name: "binary", URI: "test://static-binary", MIMEType: "image/png"},
		contentsOf(mcp.ResourceContents{MIMEType: "image/png", Blob: picture}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
			}}}, nil
		})

	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "A prompt that the suite gets."}, prompted(func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "A simple prompt."}}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt that the suite gets.", Arguments: required("arg1", "arg2")}, prompted(func(args map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt that the suite gets.", Arguments: required("resourceUri")}, prompted(func(args map[string]string) []mcp.Content {
		return []mcp.Content{embedded(args["resourceUri"]), &mcp.TextContent{Text: "Please read the resource."}}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "A prompt that the suite gets."}, prompted(func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}, &mcp.TextContent{Text: "Please look at the picture."}}
	}))
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that the suite gets."}, askContext)
}

func required(names ...string) (list []*mcp.PromptArgument) {
	for _, name := range names {
		list = append(list, &mcp.PromptArgument{Name: name, Required: true})
	}
	return list
}

func prompted(content func(args map[string]string) []mcp.Content) mcp.PromptHandler {
	return func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return promptOf(content(req.Params.Arguments)...), nil
	}
}

func promptOf(content ...mcp.Content) *mcp.GetPromptResult {
	result := &mcp.GetPromptResult{}
	for _, c := range content {
		result.Messages = append(result.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return result
}

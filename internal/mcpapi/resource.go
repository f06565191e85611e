package mcpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// scheme begins the URIs of resources.
const scheme = "parley://"

func conversationURI(id string) string { return scheme + "conversations/" + url.PathEscape(id) }
func taskURI(id string) string         { return scheme + "tasks/" + url.PathEscape(id) }
func agentURI(id string) string        { return scheme + "agents/" + url.PathEscape(id) }

const textType = "text/plain"

// addResources adds the templates of the resources. listResources lists the resources of each caller.
func addResources(s *mcp.Server) {
	for _, t := range []*mcp.ResourceTemplate{
		{Name: "conversation", URITemplate: scheme + "conversations/{id}", MIMEType: textType, Description: "The last messages of a conversation."},
		{Name: "task", URITemplate: scheme + "tasks/{id}", MIMEType: textType, Description: "A task: who asked for it, who does it, and how far it is."},
		{Name: "agent", URITemplate: scheme + "agents/{id}", MIMEType: textType, Description: "An agent or a person, and what it is doing."},
	} {
		s.AddResourceTemplate(t, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			result, err := readResource(ctx, callerOf(ctx), req.Params.URI)
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: textType, Text: result.Text}}}, nil
		})
	}
}

// readResource returns a resource. Whatever the caller may not see looks like something that does not exist.
func readResource(ctx context.Context, c Caller, uri string) (result tools.Result, err error) {
	kind, id := splitURI(uri)
	if id == "" {
		return result, mcp.ResourceNotFoundError(uri)
	}
	p := c.participant(nil)
	switch kind {
	case "conversations":
		args, err := json.Marshal(map[string]string{"conversation": id})
		if err != nil {
			return result, err
		}
		result, err = tools.Call(ctx, p, "read_conversation", args)
		return result, resourceError(uri, err)
	case "tasks":
		result, err = tools.ShowTask(ctx, p, id)
	case "agents":
		result, err = showAgent(ctx, p, id)
	default:
		return result, mcp.ResourceNotFoundError(uri)
	}
	return result, resourceError(uri, err)
}

// splitURI returns the kind of a resource and the id or name in its URI. The id is empty if the URI is not valid.
func splitURI(uri string) (kind, id string) {
	kind, id, _ = strings.Cut(strings.TrimPrefix(uri, scheme), "/")
	id, err := url.PathUnescape(id)
	if err != nil {
		return kind, ""
	}
	return kind, id
}

// showAgent shows a participant, which may also be named by its UUID or as @name.
func showAgent(ctx context.Context, p tools.Participant, name string) (tools.Result, error) {
	named, err := p.Workspace.Named(ctx, strings.TrimPrefix(name, "@"))
	if err != nil {
		return tools.Result{}, err
	}
	if len(named) > 0 {
		name = named[0].ID
	}
	return tools.ShowAgent(ctx, p, name)
}

func resourceError(uri string, err error) error {
	switch {
	case err == nil:
		return nil
	case parley.AsError(err).Reason == parley.NotFound:
		return mcp.ResourceNotFoundError(uri)
	default:
		return rpcError(err)
	}
}

// maxListed is how many resources of a kind a list has.
const maxListed = 100

// listResources adds the caller's conversations, open tasks and participants to the list of resources. The list has ids only: names
// and titles are words of participants, and have no place in a definition.
func listResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*mcp.ListResourcesResult)
		if err != nil || !ok || list.NextCursor != "" {
			return result, err
		}
		own, err := resourcesOf(ctx, callerOf(ctx).participant(nil))
		if err != nil {
			return nil, rpcError(err)
		}
		list.Resources = append(list.Resources, own...)
		return list, nil
	}
}

func resourcesOf(ctx context.Context, p tools.Participant) (list []*mcp.Resource, err error) {
	w := p.Workspace
	conversations, err := w.Conversations(ctx, parley.ListFilter{All: true, Limit: maxListed})
	if err != nil {
		return nil, err
	}
	for _, c := range conversations {
		list = append(list, &mcp.Resource{URI: conversationURI(c.ID), Name: cmp.Or(tools.MembersName(p, c), "conversation "+c.ID), MIMEType: textType})
	}
	tasks, err := w.Tasks(ctx, parley.TaskFilter{Open: true, Limit: maxListed})
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		list = append(list, &mcp.Resource{URI: taskURI(t.ID), Name: t.ID, MIMEType: textType})
	}
	present, err := w.Who(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range present[:min(len(present), maxListed)] {
		list = append(list, &mcp.Resource{URI: agentURI(a.ID), Name: "agent " + a.ID, MIMEType: textType})
	}
	return list, nil
}

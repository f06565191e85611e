package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/parley-hub/parley"
)

// MCPCaller is the caller of a request to the MCP endpoint.
type MCPCaller struct {
	Agent     string // its id
	Run       string // the run that calls, or ""
	Workspace parley.Workspace
	// Principal tells the caller from others, also from an earlier participant with the same id and from an owner that acts as it.
	Principal string
	// WatchCredential returns a context that ends when the caller's credential is revoked or expires. The caller must call release.
	WatchCredential func(ctx context.Context) (held context.Context, release func(), err error)
}

const tagMCP = "MCP"

func mcpRoutes() []route {
	call := mcpRoute(Operation{
		ID: "call-mcp", Method: http.MethodPost, Path: "/mcp", Tag: tagMCP,
		Summary: "Send a message of the Model Context Protocol",
		Description: "The endpoint speaks revision 2026-07-28 and those from 2024-11-05 on. Each call of a tool has the rights, the rules and the " +
			"limits of the same call elsewhere in this API. The answer is JSON, or a stream of server-sent events if the message is a call.",
		Example: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}`,
	})
	call.document = func(doc huma.API, described huma.Operation) {
		huma.Register(doc, described, func(context.Context, *bodyInput[map[string]any]) (*struct{ Body map[string]any }, error) {
			return nil, nil
		})
	}
	return []route{
		call,
		mcpRoute(Operation{
			ID: "follow-mcp", Method: http.MethodGet, Path: "/mcp", Tag: tagMCP,
			Summary:     "Follow a session of the Model Context Protocol",
			Description: "The stream of revisions up to 2025-11-25. It begins with the session that the header Mcp-Session-Id names.",
			AnswerType:  "text/event-stream",
		}),
		mcpRoute(Operation{
			ID: "end-mcp", Method: http.MethodDelete, Path: "/mcp", Tag: tagMCP,
			Summary: "End a session of the Model Context Protocol",
			Status:  http.StatusNoContent,
		}),
	}
}

// mcpRoute returns a route of the MCP endpoint. It reads the whole body before the call begins, so that the time limit of the body does
// not end a call that waits.
func mcpRoute(op Operation) route {
	op.TimeLimit = noTimeLimit
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c *call) error {
			if c.options.MCP == nil {
				return parley.Errorf(parley.BadInput, "this hub has no MCP endpoint").Because(parley.NotFound).Suggest("use the HTTP API: /docs")
			}
			if r.Method == http.MethodHead {
				w.Header().Set("Content-Type", op.AnswerType)
				return nil
			}
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, defaultBody))
			if err != nil {
				return err
			}
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // only a real connection has one
			w.writeTime = sendPartTime
			serve := func(ctx context.Context) (noInput, error) {
				c.answerMCP(w, r.WithContext(ctx), body)
				return noInput{}, nil
			}
			if r.Header.Get("Mcp-Method") == "tools/call" {
				_, err = whileValidIfLong(r.Context(), c, serve)
			} else { // a stream, or a message that makes no call in the hub, by which its sender would be seen to be there
				_, err = whileValid(r.Context(), c, serve)
			}
			return err
		},
		document: documented[struct{}],
	}
}

// answerMCP has the MCP endpoint answer a request.
func (c *call) answerMCP(w http.ResponseWriter, r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.options.MCP(w, r, c.mcpCaller(r))
}

// mcpCaller returns the caller as the MCP endpoint knows it.
func (c *call) mcpCaller(r *http.Request) MCPCaller {
	caller := c.caller
	caller.IsCounted, caller.Source = false, source(r, "mcp") // each call of a tool counts as what it is, or waits in the slot of this one
	return MCPCaller{
		Agent: caller.Agent, Run: caller.Run, Workspace: c.hub.AtWithin(caller, c.underway.share()),
		Principal: caller.Agent + "/" + caller.AgentUUID + "/" + caller.By + "/" + caller.Run,
		WatchCredential: func(ctx context.Context) (context.Context, func(), error) {
			return c.hub.WatchCredential(ctx, caller)
		},
	}
}

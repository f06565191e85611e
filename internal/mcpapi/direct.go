package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// plainCall is a call of a tool that is answered without the SDK, whose way of a message costs more than the call. It has no field
// beside these. Whatever is unusual is left to the SDK: another field, a progress token, a task, an unknown tool, and whatever is wrong.
type plainCall struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      plainMeta       `json:"_meta"`
	} `json:"params"`
}

// plainMeta is the metadata of a call. Clients may add fields to it, which mean nothing here.
type plainMeta struct {
	Version      string              `json:"io.modelcontextprotocol/protocolVersion"`
	Client       *mcp.Implementation `json:"io.modelcontextprotocol/clientInfo"`
	Capabilities *struct {
		Extensions map[string]jsontext.Value `json:"extensions"`
		Others     jsontext.Value            `json:",embed"`
	} `json:"io.modelcontextprotocol/clientCapabilities"`
	Progress jsontext.Value `json:"progressToken"`
	LogLevel jsontext.Value `json:"io.modelcontextprotocol/logLevel"`
	Others   jsontext.Value `json:",embed"`
}

const callMethod = "tools/call"

// plainCallOf returns a message as a plain call of revision 2026-07-28.
func plainCallOf(message []byte) (c plainCall, ok bool) {
	if jsonv2.Unmarshal(message, &c, jsonv2.RejectUnknownMembers(true)) != nil {
		return c, false
	}
	meta := c.Params.Meta
	if meta.Version != sessionless || meta.Capabilities == nil || meta.Progress != nil || meta.LogLevel != nil {
		return c, false
	}
	_, task := meta.Capabilities.Extensions[tasksExtension]
	return c, !task && c.Version == "2.0" && c.Method == callMethod && isPlainID(c.ID) && isTool(c.Params.Name)
}

// isPlainID reports whether an id is a string, or a number that is not changed on its way.
func isPlainID(id jsontext.Value) bool {
	return id.Kind() == '"' || id.Kind() == '0' && len(id) <= 15 && !bytes.ContainsAny(id, ".eE-")
}

func isTool(name string) bool {
	return slices.ContainsFunc(sharedTools(), func(t sharedTool) bool { return t.definition.Name == name })
}

// answerDirectly answers a plain call over HTTP. It returns false for every other request.
func (h *Handler) answerDirectly(w http.ResponseWriter, r *http.Request, c Caller) bool {
	if !mayBePlain(r) {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body)) // for the SDK
	if err != nil || len(body) > MaxBody {
		return false
	}
	call, ok := plainCallOf(body)
	if !ok || r.Header.Get(nameHeader) != call.Params.Name {
		return false
	}
	c.maxWait = h.options.MaxWait
	c = h.open.sessionOf(c, sessionOfClient(c, call.Params.Meta.Client))
	answer, err := call.answer(r.Context(), h.options, c)
	if err != nil {
		h.options.Log.Error("cannot encode the result of a tool", "tool", call.Params.Name, "error", err)
		http.Error(w, "the hub has a defect, and logged it", http.StatusInternalServerError)
		return true
	}
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(slices.Concat([]byte("event: message\ndata: "), answer, []byte("\n\n"))) // the client may have left
	return true
}

// mayBePlain reports whether the headers of a request are those of a plain call.
func mayBePlain(r *http.Request) bool {
	if r.Method != http.MethodPost || r.Header.Get(versionHeader) != sessionless || r.Header.Get(methodHeader) != callMethod || len(r.Header["Last-Event-Id"]) > 0 {
		return false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accept := strings.Join(r.Header["Accept"], ",")
	return err == nil && kind == "application/json" && strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// plainAnswer is the answer to a plain call.
type plainAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  *plainResult    `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// plainResult is an mcp.CallToolResult. That type would encode each part on its own, and copy it several times.
type plainResult struct {
	Meta       json.RawMessage `json:"_meta"`
	Content    [1]plainText    `json:"content"`
	Structured any             `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	ResultType string          `json:"resultType"`
}

type plainText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// answer calls the tool, and returns the message for the client.
func (p plainCall) answer(ctx context.Context, o Options, c Caller) ([]byte, error) {
	answer := plainAnswer{Version: "2.0", ID: json.RawMessage(p.ID)}
	if result, err := p.call(ctx, o, c); err != nil {
		answer.Error, _ = rpcError(err).(*jsonrpc.Error)
	} else {
		answer.Result = result
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(answer)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

func (p plainCall) call(ctx context.Context, o Options, c Caller) (_ *plainResult, err error) {
	defer o.recoverFrom(callMethod, &err)
	result, failed := tools.Call(ctx, c.participant(nil), p.Params.Name, p.Params.Arguments)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	text, data := partsOf(result, failed)
	return &plainResult{
		Meta: serverMeta(), Content: [1]plainText{{"text", text}}, Structured: data, IsError: failed != nil, ResultType: "complete",
	}, nil
}

// serverMeta is the metadata of each result: which server this is.
var serverMeta = sync.OnceValue(func() json.RawMessage {
	meta, err := json.Marshal(map[string]any{mcp.MetaKeyServerInfo: implementation()})
	if err != nil {
		panic(err) // it has fixed fields only
	}
	return meta
})

// implementation is what this server says of itself.
func implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "parley", Title: "Parley", Version: parley.Version}
}

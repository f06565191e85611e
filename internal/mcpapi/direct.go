package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// plainRequest is a request of revision 2026-07-28 that is answered without the SDK, whose way of a message costs more than most calls, and
// whose streams keep much memory. It has no field beside these. Whatever is unusual is left to the SDK: another field, a progress token,
// a task, an unknown tool, and whatever is wrong.
type plainRequest struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  struct {
		Name          string                         `json:"name"`
		Arguments     json.RawMessage                `json:"arguments"`
		Notifications *mcp.NotificationSubscriptions `json:"notifications"`
		Meta          plainMeta                      `json:"_meta"`
	} `json:"params"`
}

// plainMeta is the metadata of a request. Clients may add fields to it, which mean nothing here.
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

const (
	callMethod   = "tools/call"
	listenMethod = "subscriptions/listen"
)

// plainRequestOf returns a message as a plain request. begun says that the message belongs to a session of an earlier revision.
func plainRequestOf(message []byte, begun bool) (p plainRequest, ok bool) {
	if jsonv2.Unmarshal(message, &p, jsonv2.RejectUnknownMembers(true)) != nil {
		return p, false
	}
	meta := p.Params.Meta
	hasRevision := p.isCurrent() && meta.Capabilities != nil || begun && meta.Version == ""
	return p, hasRevision && p.Version == "2.0" && isPlainID(p.ID) && meta.Progress == nil && meta.LogLevel == nil
}

func (p *plainRequest) isCurrent() bool { return p.Params.Meta.Version == sessionless }

// isCall reports whether the request is a call of a tool that becomes no task.
func (p *plainRequest) isCall() bool {
	return p.Method == callMethod && p.Params.Notifications == nil && !p.declaresTasks() && isTool(p.Params.Name)
}

// listens reports whether the request is for a stream that need not follow the hub: neither list of tools or prompts changes.
func (p *plainRequest) listens() bool {
	want := p.Params.Notifications
	return p.Method == listenMethod && p.Params.Name == "" && p.Params.Arguments == nil &&
		want != nil && (want.ToolsListChanged || want.PromptsListChanged) && len(want.ResourceSubscriptions) == 0
}

func (p *plainRequest) declaresTasks() bool {
	capabilities := p.Params.Meta.Capabilities
	if capabilities == nil {
		return false
	}
	_, declared := capabilities.Extensions[tasksExtension]
	return declared
}

// isPlainID reports whether an id is a string, or a number that is not changed on its way.
func isPlainID(id jsontext.Value) bool {
	return id.Kind() == '"' || id.Kind() == '0' && len(id) <= 15 && !bytes.ContainsAny(id, ".eE-")
}

func isTool(name string) bool {
	return slices.ContainsFunc(sharedTools(), func(t sharedTool) bool { return t.definition.Name == name })
}

// answerDirectly answers a plain request over HTTP. It returns false for every other request.
func (h *Handler) answerDirectly(w http.ResponseWriter, r *http.Request, c Caller) bool {
	if !mayBePlain(r) {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body)) // for the SDK
	if err != nil || len(body) > MaxBody {
		return false
	}
	p, ok := plainRequestOf(body, false)
	if !ok || r.Header.Get(methodHeader) != p.Method {
		return false
	}
	c.maxWait = h.options.MaxWait
	switch {
	case p.isCall() && r.Header.Get(nameHeader) == p.Params.Name:
		h.call(w, r, c, &p)
	case p.listens() && h.options.Extend == nil && h.options.Configure == nil:
		h.listen(w, r, c, &p)
	default:
		return false
	}
	return true
}

// mayBePlain reports whether the headers of a request are those of a plain request.
func mayBePlain(r *http.Request) bool {
	method := r.Header.Get(methodHeader)
	if r.Method != http.MethodPost || r.Header.Get(versionHeader) != sessionless || method != callMethod && method != listenMethod || len(r.Header["Last-Event-Id"]) > 0 {
		return false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accept := strings.Join(r.Header["Accept"], ",")
	return err == nil && kind == "application/json" && strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// call answers a call of a tool.
func (h *Handler) call(w http.ResponseWriter, r *http.Request, c Caller, p *plainRequest) {
	c = h.open.sessionOf(c, sessionOfClient(c, p.Params.Meta.Client))
	sendEvent(w, p.answer(r.Context(), h.options, c))
}

// sendEvent sends a message as an event of a stream, as the SDK does.
func sendEvent(w http.ResponseWriter, message []byte) {
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(slices.Concat([]byte("event: message\ndata: "), message, []byte("\n\n"))) // the client may have left
}

// listen holds a stream open until its client leaves. The stream is a session of the client.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request, c Caller, p *plainRequest) {
	info := p.Params.Meta.Client
	n := parley.NewSession{Key: sessionOfClient(c, info), Client: nameOf(info), Kind: parley.SessionHTTP, Wake: parley.WakeNone}
	if p.declaresTasks() {
		n.Wake = parley.WakeTask
	}
	defer h.open.join(r.Context(), h.options, c, n)()
	allowed := mcp.NotificationSubscriptions{ToolsListChanged: p.Params.Notifications.ToolsListChanged, PromptsListChanged: p.Params.Notifications.PromptsListChanged}
	text, err := json.Marshal(allowed)
	if err != nil {
		h.options.Log.Error("cannot encode an acknowledgement", "error", err)
		return
	}
	sendEvent(w, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{%q:%s},"notifications":%s}}`,
		mcp.MetaKeySubscriptionID, p.ID, text))
	_ = http.NewResponseController(w).Flush() // the client may have left
	select {
	case <-r.Context().Done():
	case <-h.closed:
	}
}

// plainAnswer is the answer to a call.
type plainAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  *plainResult    `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// plainResult is an mcp.CallToolResult. That type would encode each part on its own, and copy it several times.
type plainResult struct {
	Meta       json.RawMessage `json:"_meta,omitempty"`
	Content    [1]plainText    `json:"content"`
	Structured any             `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	ResultType string          `json:"resultType,omitempty"`
}

type plainText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// answer calls the tool, and returns the message for the client.
func (p *plainRequest) answer(ctx context.Context, o Options, c Caller) []byte {
	answer := plainAnswer{Version: "2.0", ID: json.RawMessage(p.ID)}
	result, err := p.call(ctx, o, c)
	if err == nil {
		answer.Result = result
		var text []byte
		if text, err = encode(answer); err == nil {
			return text
		}
	}
	answer.Result = nil
	answer.Error, _ = errors.AsType[*jsonrpc.Error](rpcError(err))
	text, err := encode(answer)
	if err != nil {
		o.Log.Error("cannot encode an error", "tool", p.Params.Name, "error", err)
	}
	return text
}

// encode returns a message as the SDK encodes it.
func encode(message any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(message)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

func (p *plainRequest) call(ctx context.Context, o Options, c Caller) (_ *plainResult, err error) {
	defer o.recoverFrom(callMethod, &err)
	result, failed := tools.Call(ctx, c.participant(nil), p.Params.Name, p.Params.Arguments)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	text, data := partsOf(result, failed)
	answer := &plainResult{Content: [1]plainText{{"text", text}}, Structured: data, IsError: failed != nil}
	if p.isCurrent() { // earlier revisions have no such fields
		answer.Meta, answer.ResultType = serverMeta(), "complete"
	}
	return answer, nil
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

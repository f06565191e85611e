package mcpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
	"github.com/parley-hub/parley/internal/mcpapi"
)

var update = flag.Bool("update", false, "write the transcripts anew")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// hubFixture is a hub with its HTTP API and MCP endpoint, the agents ana and ben, which poll, and the channel fruit of both.
type hubFixture struct {
	*hubtest.Fixture
	server *httptest.Server
	tokens map[string]string
}

// quick makes calls wait for a short time, and requests for the state of a task not at all.
func quick() mcpapi.Options {
	var o mcpapi.Options
	o.MaxWait, o.HoldTime = 50*time.Millisecond, time.Millisecond
	return o
}

func newHub(t testing.TB, o mcpapi.Options, change ...func(*hub.Config)) *hubFixture {
	t.Helper()
	h := &hubFixture{tokens: map[string]string{}}
	h.Fixture = hubtest.New(t, hubtest.SQLite, t.TempDir(), hubtest.RealTime, func(f *hubtest.Fixture) {
		none := hub.Rate{PerSecond: -1, Burst: 1}
		f.Config.Rate, f.Config.Load.Reads = none, none
		for _, c := range change {
			c(&f.Config)
		}
	})
	h.Start(t.Context())
	endpoint := mcpapi.NewHandler(o)
	closing, endStreams := context.WithCancel(context.Background())
	h.server = httptest.NewServer(httpapi.New(h.Hub, httpapi.Options{
		Closing: closing, OnIdentified: func(context.Context, string) error { return nil },
		Peer: func(context.Context) (hub.Connection, error) { return hub.Connection{TCP: true}, nil },
		MCP: func(w http.ResponseWriter, r *http.Request, c httpapi.MCPCaller) {
			endpoint.Serve(w, r, mcpapi.Caller{
				ID: c.Agent, Workspace: c.Workspace, InRun: c.Run != "", Principal: c.Principal, WatchCredential: c.WatchCredential,
			})
		},
	}))
	t.Cleanup(func() {
		endStreams()
		endpoint.Close()
		h.server.CloseClientConnections()
		h.server.Close()
	})
	h.AddPollingAgents("ana", "ben")
	for _, id := range []string{"ana", "ben"} {
		h.tokens[id] = h.MakeToken(id, parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide).Secret
	}
	h.CreateChannel("ana", "fruit", "ben")
	return h
}

// answer is what the server sent for one request: notices, and the answer itself at the end.
type answer struct {
	status   int
	messages []json.RawMessage
	body     string // if it is no message
}

// peer sends messages to the server over one of the transports.
type peer interface {
	send(t testing.TB, message string) answer
}

// web is a client of the HTTP endpoint.
type web struct {
	hub     *hubFixture
	agent   string
	header  map[string]string // instead of, or besides, the usual ones
	session string
}

var direct = &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}

func (c *web) request(t testing.TB, ctx context.Context, method, message string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, c.hub.server.URL+"/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	if secret := c.hub.tokens[c.agent]; secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	var parts struct {
		Method string
		Params struct {
			Name, URI, TaskID string
			Meta              map[string]any `json:"_meta"`
		}
	}
	if json.Unmarshal([]byte(message), &parts) == nil && parts.Params.Meta["io.modelcontextprotocol/protocolVersion"] != nil {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", parts.Method)
		if name := parts.Params.Name + parts.Params.URI + parts.Params.TaskID; name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	for name, value := range c.header {
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	return req
}

func (c *web) send(t testing.TB, message string) answer {
	t.Helper()
	res, err := direct.Do(c.request(t, t.Context(), http.MethodPost, message))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := answer{status: res.StatusCode, body: string(body)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		got.messages = append(got.messages, body)
		return got
	}
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
			got.messages = append(got.messages, json.RawMessage(strings.TrimSpace(data)))
		}
	}
	return got
}

// pipe is a client of a server on streams, as "parley mcp" runs it.
type pipe struct {
	in  *io.PipeWriter
	out *bufio.Reader
}

func newPipe(t testing.TB, h *hubFixture, agent string, o mcpapi.Options) *pipe {
	t.Helper()
	c, err := client.New(client.Options{URL: h.server.URL, Token: h.tokens[agent], Source: "mcp"})
	if err != nil {
		t.Fatal(err)
	}
	in, write := io.Pipe()
	read, out := io.Pipe()
	identify := func(ctx context.Context) (mcpapi.Caller, error) {
		me, err := c.Whoami(ctx)
		if err != nil {
			return mcpapi.Caller{Workspace: c.Workspace("", "")}, err
		}
		return mcpapi.Caller{ID: me.Agent.ID, Workspace: c.Workspace(me.Agent.ID, ""), Principal: me.Agent.UUID}, nil
	}
	done := make(chan error, 1)
	go func() { done <- mcpapi.ServeStream(t.Context(), in, out, identify, "pipe-"+agent, o) }()
	t.Cleanup(func() {
		_ = write.Close()
		_ = read.Close()
		<-done
		_ = out.Close()
		c.Close()
	})
	return &pipe{write, bufio.NewReader(read)}
}

func (p *pipe) write(t testing.TB, message string) {
	t.Helper()
	var line bytes.Buffer
	if json.Compact(&line, []byte(message)) != nil {
		line.Reset()
		line.WriteString(message)
	}
	if _, err := p.in.Write(append(line.Bytes(), '\n')); err != nil {
		t.Fatal(err)
	}
}

func (p *pipe) read(t testing.TB) json.RawMessage {
	t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(line)
}

// send sends a message, and returns everything up to its answer. It ignores nothing, so only one message may be under way.
func (p *pipe) send(t testing.TB, message string) (got answer) {
	t.Helper()
	p.write(t, message)
	var sent struct{ ID any }
	if json.Unmarshal([]byte(message), &sent) == nil && sent.ID == nil {
		return answer{status: http.StatusAccepted}
	}
	for {
		next := p.read(t)
		got.messages = append(got.messages, next)
		var read struct{ Method string }
		if json.Unmarshal(next, &read) == nil && read.Method == "" {
			return got
		}
	}
}

func asCaller(id string) hub.Caller { return hubtest.As(id) }

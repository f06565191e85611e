package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/mcpapi"
)

const (
	mcpTokens      = 3000        // of the definitions of all tools
	mcpDeliveries  = 300         // messages that a waiting call receives
	mcpHooks       = 300         // runs of a hook
	mcpHookAgent   = membersEach // the agent of the hook, which gets no message here
	mcpHookGoal    = 30 * time.Millisecond
	mcpClientInfo  = `{"name":"bench","version":"1"}`
	mcpCurrentMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + mcpClientInfo +
		`,"io.modelcontextprotocol/clientCapabilities":{}}`
	mcpInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":` + mcpClientInfo + `}}`
)

var mcpHandler = mcpapi.NewHandler(mcpapi.Options{})

// serveMCP is the MCP endpoint of a hub.
func serveMCP(w http.ResponseWriter, r *http.Request, c httpapi.MCPCaller) {
	mcpHandler.Serve(w, r, mcpapi.Caller{ID: c.Agent, Workspace: c.Workspace, Principal: c.Principal})
}

// measureMCP measures the MCP server: the size of its definitions, calls over both transports, a waiting call, and idle sessions.
func measureMCP(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	h, err := startEventHub(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	web := newMCPWeb(h, 0)
	defer web.http.CloseIdleConnections()
	size, err := web.definitions(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	calls, err := measureMCPCalls(ctx, h, web, dir, time.Duration(rounds)*length/4)
	if err != nil {
		return nil, err
	}
	waiting, err := measureMCPWait(ctx, h)
	if err != nil {
		return nil, err
	}
	hook, err := measureMCPHook(ctx, h, dir)
	if err != nil {
		return nil, err
	}
	results = append(append([]result{size}, calls...), waiting, hook)
	for _, kind := range []struct {
		name string
		open func(*eventHub, int) (net.Conn, error)
	}{{"`GET` stream", openMCPStream}, {"`subscriptions/listen`", openMCPListen}} {
		idle, err := measureMCPIdle(ctx, kind.name, kind.open)
		if err != nil {
			return nil, err
		}
		results = append(results, idle...)
	}
	return results, nil
}

// mcpWeb is a client of the endpoint over HTTP, as one agent.
type mcpWeb struct {
	hub  *eventHub
	n    int // of the agent
	http *http.Client
}

func newMCPWeb(h *eventHub, n int) *mcpWeb {
	return &mcpWeb{h, n, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
}

// mcpCall returns a call of a tool.
func mcpCall(tool string, args any) (string, error) {
	text, err := json.Marshal(args)
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + string(text) + `,` + mcpCurrentMeta + `}}`, err
}

// mcpRequest returns the bytes of an HTTP request to the endpoint.
func mcpHeader(token, method, tool string) http.Header {
	header := http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	if method != "" {
		header["Mcp-Protocol-Version"], header["Mcp-Method"] = []string{"2026-07-28"}, []string{method}
	}
	if tool != "" {
		header["Mcp-Name"] = []string{tool}
	}
	return header
}

func (c *mcpWeb) send(ctx context.Context, header http.Header, message string) (answer []byte, session string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.hub.Address+"/mcp", strings.NewReader(message))
	if err != nil {
		return nil, "", err
	}
	req.Header = header
	res, err := c.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the endpoint answered %s: %s", res.Status, answer)
	}
	if _, data, ok := bytes.Cut(answer, []byte("data: ")); ok {
		answer = bytes.TrimSpace(data)
	}
	return answer, res.Header.Get("Mcp-Session-Id"), err
}

// call calls a tool, and returns the answer.
func (c *mcpWeb) call(ctx context.Context, tool string, args any) ([]byte, error) {
	message, err := mcpCall(tool, args)
	if err != nil {
		return nil, err
	}
	answer, _, err := c.send(ctx, mcpHeader(c.hub.Tokens[c.n], "tools/call", tool), message)
	return answer, errors.Join(err, checkMCPAnswer(answer))
}

func checkMCPAnswer(answer []byte) error {
	if !bytes.Contains(answer, []byte(`"content"`)) || bytes.Contains(answer, []byte(`"isError":true`)) {
		return fmt.Errorf("a call failed: %s", answer)
	}
	return nil
}

func (c *mcpWeb) definitions(ctx context.Context) (result, error) {
	answer, _, err := c.send(ctx, mcpHeader(c.hub.Tokens[c.n], "tools/list", ""), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+mcpCurrentMeta+`}}`)
	tokens := len(answer) / 4
	return atMost(1, result{
		What: "`tools/list` as JSON, bytes ÷ 4, against 3,000", Ratio: float64(tokens) / mcpTokens,
		Parley: strconv.Itoa(tokens), Baseline: strconv.Itoa(mcpTokens),
	}), err
}

// mcpPipe is "parley mcp", as a client starts it.
type mcpPipe struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startMCPPipe(ctx context.Context, h *eventHub, dir string) (*mcpPipe, error) {
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "parley"), "./cmd/parley")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	p := &mcpPipe{cmd: command(ctx, h, dir, 0, "mcp")}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<20)
	return p, errors.Join(err, p.cmd.Start())
}

// command is a command of the program in a directory, as one agent.
func command(ctx context.Context, h *eventHub, dir string, n int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "parley"), args...)
	cmd.Env = append(os.Environ(), "PARLEY_HOME="+dir, "PARLEY_URL=http://"+h.Address, "PARLEY_TOKEN="+h.Tokens[n])
	return cmd
}

func (p *mcpPipe) call(_ context.Context, tool string, args any) ([]byte, error) {
	message, err := mcpCall(tool, args)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(p.in, message+"\n"); err != nil {
		return nil, err
	}
	answer, err := p.out.ReadBytes('\n')
	return answer, errors.Join(err, checkMCPAnswer(answer))
}

func (p *mcpPipe) stop() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// measureMCPCalls compares calls of tools with the same calls over /v1.
func measureMCPCalls(ctx context.Context, h *eventHub, web *mcpWeb, dir string, length time.Duration) (results []result, err error) {
	pipe, err := startMCPPipe(ctx, h, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pipe.stop()) }()
	direct, err := client.New(client.Options{URL: "http://" + h.Address, Token: h.Tokens[0]})
	if err != nil {
		return nil, err
	}
	defer direct.Close()
	conversation := h.Conversations[0]
	for _, one := range []struct {
		name, tool string
		args       map[string]any
		direct     func() error
	}{
		{"post", "send_channel_message", map[string]any{"channelId": conversation, "content": body}, func() error {
			_, err := direct.Post(ctx, parley.Draft{Conversation: conversation, Content: parley.Content{Text: body}})
			return err
		}},
		{"read of 20 messages", "read_conversation", map[string]any{"conversation": conversation}, func() error {
			_, err := direct.History(ctx, conversation, client.HistoryOptions{Limit: 20})
			return err
		}},
	} {
		overWeb := func(int) error { _, err := web.call(ctx, one.tool, one.args); return err }
		overPipe := func(int) error { _, err := pipe.call(ctx, one.tool, one.args); return err }
		var times [3][]time.Duration
		for range 4 { // in turns, so that all three meet the same machine
			for i, do := range []func(int) error{func(int) error { return one.direct() }, overWeb, overPipe} {
				some, err := timed(length/4, do)
				if err != nil {
					return nil, err
				}
				times[i] = append(times[i], some...)
			}
		}
		base := median(times[0])
		for i, transport := range []struct {
			name string
			goal float64
		}{{"`/mcp`", 1.5}, {"stdio", 2}} {
			took := median(times[i+1])
			results = append(results, atMost(transport.goal, result{
				What: "a " + one.name + " over " + transport.name + ", p50, against the same over `/v1`", Ratio: float64(took) / float64(base),
				Parley: took.Round(time.Microsecond).String(), Baseline: base.Round(time.Microsecond).String(),
			}))
		}
	}
	return results, nil
}

// mcpMessage finds the message in the answer of check_inbox.
var mcpMessage = regexp.MustCompile(`\bm\d+\b`)

// measureMCPWait measures how long a message takes to a call of check_inbox that waits.
func measureMCPWait(ctx context.Context, h *eventHub) (result, error) {
	reader, poster := newMCPWeb(h, 1), newMCPWeb(h, 0)
	defer reader.http.CloseIdleConnections()
	defer poster.http.CloseIdleConnections()
	if _, err := reader.call(ctx, "check_inbox", map[string]any{}); err != nil {
		return result{}, err
	}
	var delays []time.Duration
	for range mcpDeliveries {
		received := make(chan error, 1)
		var got []byte
		go func() {
			answer, err := reader.call(ctx, "check_inbox", map[string]any{"wait": 50})
			got = answer
			received <- err
		}()
		time.Sleep(5 * time.Millisecond) // the call waits by then
		began := time.Now()
		if _, err := poster.call(ctx, "send_channel_message", map[string]any{"channelId": h.Conversations[0], "content": "@" + agentName(1) + " " + body}); err != nil {
			return result{}, err
		}
		if err := <-received; err != nil {
			return result{}, err
		}
		delays = append(delays, time.Since(began))
		if _, err := reader.call(ctx, "check_inbox", map[string]any{"ack": []string{string(mcpMessage.Find(got))}}); err != nil {
			return result{}, err
		}
	}
	slices.Sort(delays)
	p50, p99 := delays[len(delays)/2], delays[len(delays)*99/100]
	return atMost(1, result{
		What: "post to the end of a `check_inbox` that waits, over `/mcp`, p99, against 25 ms", Ratio: float64(p99) / float64(goalDelay),
		Parley:   fmt.Sprintf("p50 %s, p99 %s", p50.Round(10*time.Microsecond), p99.Round(10*time.Microsecond)),
		Baseline: goalDelay.String(),
	}), nil
}

// measureMCPHook measures the hook that a client runs with each prompt, from its start to its end, when no message waits.
func measureMCPHook(ctx context.Context, h *eventHub, dir string) (result, error) {
	agent := agentName(mcpHookAgent)
	if err := errors.Join(os.Chmod(dir, 0o700), home.Dir(dir).SaveAgentToken(home.AgentToken{Agent: agent, Token: "bench", Secret: h.Tokens[mcpHookAgent], Hub: "http://" + h.Address})); err != nil {
		return result{}, err
	}
	poster := newMCPWeb(h, mcpHookAgent+1)
	defer poster.http.CloseIdleConnections()
	if _, err := poster.call(ctx, "send_channel_message", map[string]any{"channelId": h.Conversations[mcpHookAgent/membersEach], "content": "@" + agent + " " + body}); err != nil {
		return result{}, err
	}
	var times []time.Duration
	for n := range mcpHooks {
		hook := command(ctx, h, dir, mcpHookAgent, "hook", "claude", "UserPromptSubmit", "--agent", agent)
		hook.Stdin = strings.NewReader(`{"session_id":"bench","hook_event_name":"UserPromptSubmit","prompt":"Go on."}`)
		began := time.Now()
		out, err := hook.CombinedOutput()
		if n > 0 {
			times = append(times, time.Since(began))
		}
		if brought := len(out) > 0; err != nil || brought != (n == 0) { // the first brings the message, which shows that it asks the hub
			return result{}, fmt.Errorf("hook %d said %q: %w", n, out, err)
		}
	}
	slices.Sort(times)
	p50, p99 := times[len(times)/2], times[len(times)*99/100]
	return atMost(1, result{
		What: "a hook from its start to its end, empty inbox, p99, against 30 ms", Ratio: float64(p99) / float64(mcpHookGoal),
		Parley:   fmt.Sprintf("p50 %s, p99 %s", p50.Round(10*time.Microsecond), p99.Round(10*time.Microsecond)),
		Baseline: mcpHookGoal.String(),
	}), nil
}

// openMCPStream opens a session of an earlier revision with its stream.
func openMCPStream(h *eventHub, n int) (net.Conn, error) {
	c := newMCPWeb(h, n)
	defer c.http.CloseIdleConnections()
	header := mcpHeader(h.Tokens[n], "", "")
	_, session, err := c.send(context.Background(), header, mcpInitialize)
	if err != nil {
		return nil, err
	}
	header["Mcp-Session-Id"] = []string{session}
	if _, _, err := c.send(context.Background(), header, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return nil, err
	}
	return openMCPConn(h, "GET", header, "")
}

// openMCPListen opens a stream of the current revision.
func openMCPListen(h *eventHub, n int) (net.Conn, error) {
	return openMCPConn(h, "POST", mcpHeader(h.Tokens[n], "subscriptions/listen", ""),
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+mcpCurrentMeta+`}}`)
}

// openMCPConn sends a request, and returns its connection when the answer has begun.
func openMCPConn(h *eventHub, method string, header http.Header, message string) (net.Conn, error) {
	conn, err := net.Dial("tcp", h.Address)
	if err != nil {
		return nil, err
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s /mcp HTTP/1.1\r\nHost: %s\r\n", method, h.Address)
	if message != "" {
		fmt.Fprintf(&head, "Content-Length: %d\r\n", len(message))
	}
	_ = header.Write(&head) // a buffer takes everything
	head.WriteString("\r\n" + message)
	if _, err := conn.Write(head.Bytes()); err != nil {
		return conn, err
	}
	answer := make([]byte, 12)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 200" {
		return conn, fmt.Errorf("a stream was answered by %s (%w)", answer, err)
	}
	return conn, nil
}

// measureMCPIdle opens a thousand sessions and leaves them idle.
func measureMCPIdle(ctx context.Context, name string, open func(*eventHub, int) (net.Conn, error)) (results []result, err error) {
	h, err := startEventHub(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	if err := h.collect(); err != nil {
		return nil, err
	}
	_, before, err := h.used()
	if err != nil {
		return nil, err
	}
	for n := range subscriberCount {
		conn, err := open(h, n)
		if conn != nil {
			defer func() { _ = conn.Close() }()
		}
		if err != nil {
			return nil, err
		}
	}
	cpu, _, err := h.idle()
	if err != nil {
		return nil, err
	}
	if err := h.collect(); err != nil { // the handshakes left garbage
		return nil, err
	}
	_, resident, err := h.used()
	if err != nil {
		return nil, err
	}
	each := (resident - before) / subscriberCount
	return []result{
		atMost(1, result{
			What: "processor time of 1,000 idle sessions with a " + name + ", against 1 % of a core", Ratio: cpu / goalCPU,
			Parley: fmt.Sprintf("%.2f %%", 100*cpu), Baseline: fmt.Sprintf("%.0f %%", 100*goalCPU),
		}),
		atMost(1, result{
			What: "resident memory of an idle session with a " + name + ", against 60 KiB", Ratio: float64(each) / goalBytes,
			Parley: fmt.Sprintf("%d KiB", each>>10), Baseline: fmt.Sprintf("%d KiB", goalBytes>>10),
		}),
	}, nil
}

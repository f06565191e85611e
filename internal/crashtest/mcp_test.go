package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/home"
)

// killedHub is a hub process that the test kills and starts again.
type killedHub struct {
	t       *testing.T
	dir     home.Dir
	env     []string
	process *exec.Cmd
	owner   *client.Client
}

func newKilledHub(t *testing.T) *killedHub {
	t.Helper()
	h := &killedHub{t: t, dir: home.Dir(filepath.Join(t.TempDir(), "home"))}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.env = append(os.Environ(), "PARLEY_HOME="+string(h.dir), "PARLEY_ADDR="+free.Addr().String(), "PARLEY_RATE_PER_SECOND=0")
	_ = free.Close()
	h.up()
	t.Cleanup(h.kill)
	if h.owner, err = client.New(client.Options{Socket: h.dir.Socket()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.owner.Close)
	return h
}

// up starts the hub, and waits until it runs.
func (h *killedHub) up() {
	h.t.Helper()
	h.process = exec.Command(program(h.t), "up")
	h.process.Env = h.env
	stderr, err := h.process.StderrPipe()
	if err == nil {
		err = h.process.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "The hub is running") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	h.t.Fatal("the hub did not start")
}

// kill kills the hub as kill -9 does.
func (h *killedHub) kill() {
	_ = h.process.Process.Kill()
	_ = h.process.Wait()
}

// mcpProcess is "parley mcp" with a client that makes one call at a time.
type mcpProcess struct {
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func (h *killedHub) startMCP(secret string) *mcpProcess {
	h.t.Helper()
	cmd := exec.Command(program(h.t), "mcp")
	cmd.Env, cmd.Stderr = slices.Concat(h.env, []string{"PARLEY_TOKEN=" + secret}), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &mcpProcess{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// call calls a tool, and returns the text of its result.
func (p *mcpProcess) call(tool string, args map[string]any) (string, error) {
	p.id++
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.id, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": args, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		},
	}})
	if err != nil {
		return "", err
	}
	if _, err := p.in.Write(append(message, '\n')); err != nil {
		return "", err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return "", err
	}
	var answer struct {
		ID     int
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.ID != p.id || answer.Error != nil || len(answer.Result.Content) == 0 {
		return "", fmt.Errorf("the answer is %s (%w)", line, err)
	}
	if answer.Result.IsError {
		return "", fmt.Errorf("the tool failed: %s", answer.Result.Content[0].Text)
	}
	return answer.Result.Content[0].Text, nil
}

// stepsPerKill is how often an agent posts, gets a message and a task, and ends the task, for each kill.
const stepsPerKill = 8

// TestKillsAmidMCPCallsLoseAndDoubleNothing kills the hub again and again while an agent posts, ends tasks and takes messages over MCP.
func TestKillsAmidMCPCallsLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	const kills = 3
	h := newKilledHub(t)
	ctx := context.Background()
	for _, id := range []string{"ana", "ben"} {
		if _, err := h.owner.AddAgent(ctx, parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: "attached", InboxOverflow: parley.OverflowUnbounded}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.owner.CreateConversation(ctx, parley.NewConversation{Name: "fruit", With: []string{"ana", "ben"}}); err != nil {
		t.Fatal(err)
	}
	issued, err := h.owner.NewToken(ctx, parley.NewToken{Agent: "ana", Scopes: parley.Scopes{parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide}})
	if err != nil {
		t.Fatal(err)
	}
	ana := h.startMCP(issued.Secret)

	rounds, random := seededRounds(t, kills)
	w := h.owner.Workspace(parley.Owner, "")
	shown := map[string]bool{}
	must := func(text string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	take := func() {
		for line := range strings.Lines(must(ana.call("check_inbox", nil))) {
			if words, ok := strings.CutPrefix(strings.TrimSpace(line), "| for ana "); ok {
				shown[words] = true
			}
		}
	}
	sent := rounds * stepsPerKill
	var running sync.WaitGroup
	for i := range sent {
		if i%stepsPerKill == 0 {
			running.Wait() // until the hub that was killed runs again
		}
		words := fmt.Sprint(i)
		kill := -1
		if i%stepsPerKill == stepsPerKill/2 {
			kill = random.IntN(4)
		}
		var task parley.Contacted
		for at, step := range []func(){
			func() {
				must(ana.call("send_channel_message", map[string]any{"channelId": "#fruit", "content": "pear " + words}))
			},
			func() {
				_, err := w.Post(ctx, parley.Draft{Direct: []string{"ana"}, Content: parley.Content{Text: "for ana " + words}})
				must("", err)
				task, err = w.Contact(ctx, parley.Contact{Pattern: parley.PatternDelegate, Agent: "ana", Message: "for ana task " + words})
				must("", err)
			},
			func() {
				must(ana.call("update_task", map[string]any{"task": task.Task, "status": "completed", "result": words}))
			},
			take,
		} {
			if at == kill {
				running.Go(func() {
					h.kill()
					h.up()
				})
			}
			step()
		}
	}
	running.Wait()
	take()
	take()
	for i := range sent {
		if !shown[fmt.Sprint(i)] {
			t.Errorf("ana never saw message %d of %d", i, sent)
		}
	}
	h.checkPosts(sent)
	t.Logf("%d posts, messages and tasks through %d kills", sent, rounds)
}

// checkPosts reads the channel: each post is there once, in order.
func (h *killedHub) checkPosts(posted int) {
	h.t.Helper()
	ctx := context.Background()
	var found []string
	for before := int64(0); ; {
		list, err := h.owner.History(ctx, "fruit", client.HistoryOptions{Before: before, Limit: 100})
		if err != nil {
			h.t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		var page []string
		for _, m := range list {
			if m.From == "ana" {
				page = append(page, m.Content.Text)
			}
		}
		found, before = append(page, found...), list[0].Seq
	}
	var want bytes.Buffer
	for i := range posted {
		fmt.Fprintf(&want, "pear %d\n", i)
	}
	if got := strings.Join(found, "\n") + "\n"; got != want.String() {
		h.t.Errorf("posted %d, and the channel has %d: %q", posted, len(found), got)
	}
}

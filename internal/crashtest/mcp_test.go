package crashtest

import (
	"bufio"
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
	addr    string // where it listens on TCP
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
	h.addr = free.Addr().String()
	h.env = append(os.Environ(), "PARLEY_HOME="+string(h.dir), "PARLEY_ADDR="+h.addr, "PARLEY_RATE_PER_SECOND=0")
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

// mcpAnswer is the result of a call: that of a tool, or the state of a task.
type mcpAnswer struct {
	ResultType string
	TaskID     string
	Status     string
	IsError    bool
	Content    []struct{ Text string }
	Result     *struct{ Content []struct{ Text string } } // of a task that has ended
}

// send makes a call and returns its result.
func (p *mcpProcess) send(method string, params, capabilities map[string]any) (got mcpAnswer, err error) {
	p.id++
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": capabilities,
	}
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.id, "method": method, "params": params})
	if err != nil {
		return got, err
	}
	if _, err := p.in.Write(append(message, '\n')); err != nil {
		return got, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return got, err
	}
	answer := struct {
		ID     int
		Result *mcpAnswer
		Error  json.RawMessage
	}{Result: &got}
	if err := json.Unmarshal(line, &answer); err != nil || answer.ID != p.id || answer.Error != nil {
		return got, fmt.Errorf("the answer is %s (%w)", line, err)
	}
	return got, nil
}

// call calls a tool, and returns the text of its result.
func (p *mcpProcess) call(tool string, args map[string]any) (string, error) {
	got, err := p.send("tools/call", map[string]any{"name": tool, "arguments": args}, map[string]any{})
	switch {
	case err != nil:
		return "", err
	case got.IsError || len(got.Content) == 0:
		return "", fmt.Errorf("the tool failed: %+v", got)
	default:
		return got.Content[0].Text, nil
	}
}

// withTasks are the capabilities of a client that takes tasks of the protocol.
var withTasks = map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}

// task calls a tool that becomes a task, and returns the task's id.
func (p *mcpProcess) task(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	got, err := p.send("tools/call", map[string]any{"name": tool, "arguments": args}, withTasks)
	if err != nil || got.ResultType != "task" || got.Status != "working" {
		t.Fatalf("%s became no task: %+v, %v", tool, got, err)
	}
	return got.TaskID
}

// TestTasksOfMCPSurviveKills kills the hub and the MCP server of a client while an ask and a wait for messages go on as tasks. Another
// process of the same agent gets their results, and another agent gets nothing.
func TestTasksOfMCPSurviveKills(t *testing.T) {
	t.Parallel()
	h := newKilledHub(t)
	ctx := context.Background()
	secrets := map[string]string{}
	for _, id := range []string{"ana", "ben"} {
		if _, err := h.owner.AddAgent(ctx, parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: "attached"}}); err != nil {
			t.Fatal(err)
		}
		issued, err := h.owner.NewToken(ctx, parley.NewToken{Agent: id})
		if err != nil {
			t.Fatal(err)
		}
		secrets[id] = issued.Secret
	}
	ana, ben := h.startMCP(secrets["ana"]), h.startMCP(secrets["ben"])
	if _, err := ben.call("check_inbox", nil); err != nil { // ben is here, and can be asked
		t.Fatal(err)
	}
	inbox := ana.task(t, "check_inbox", map[string]any{"wait": 50})
	ask := ana.task(t, "contact_agent", map[string]any{"action": "ask", "agentId": "ben", "message": "pears or plums?"})
	h.kill()
	h.up()
	again := h.startMCP(secrets["ana"])
	for _, task := range []string{ask, inbox} {
		if got, err := ben.send("tasks/get", map[string]any{"taskId": task}, withTasks); err == nil {
			t.Errorf("another agent gets %+v", got)
		}
	}
	asked, err := ben.call("check_inbox", nil)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Fields(asked)[2] // --- message NAME from …
	if _, err := ben.call("reply", map[string]any{"message": name, "content": "plums"}); err != nil {
		t.Fatal(err)
	}
	if got := again.result(t, ask); !strings.Contains(got, "plums") {
		t.Errorf("the ask ended with %q", got)
	}
	w := h.owner.Workspace(parley.Owner, "")
	if _, err := w.Post(ctx, parley.Draft{Direct: []string{"ana"}, Content: parley.Content{Text: "a basket came"}}); err != nil {
		t.Fatal(err)
	}
	if got := again.result(t, inbox); !strings.Contains(got, "a basket came") || strings.Contains(got, "plums") {
		t.Errorf("the wait ended with %q", got)
	}
}

// result returns the text with which a task ends.
func (p *mcpProcess) result(t *testing.T, task string) string {
	t.Helper()
	for {
		got, err := p.send("tasks/get", map[string]any{"taskId": task}, withTasks)
		switch {
		case err != nil:
			t.Fatal(err)
		case got.Status == "completed" && got.Result != nil && len(got.Result.Content) > 0:
			return got.Result.Content[0].Text
		case got.Status != "working":
			t.Fatalf("the task is %+v", got)
		}
	}
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
	var want []string
	for i := range sent {
		want = append(want, fmt.Sprint("pear ", i))
	}
	h.checkPostsOf("ana", want)
	t.Logf("%d posts, messages and tasks through %d kills", sent, rounds)
}

// checkPostsOf reads what an agent has posted in the channel: each post is there once, in order.
func (h *killedHub) checkPostsOf(agent string, want []string) {
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
			if m.From == agent {
				page = append(page, m.Content.Text)
			}
		}
		found, before = append(page, found...), list[0].Seq
	}
	if !slices.Equal(found, want) {
		h.t.Errorf("%s posted %q, and the channel has %q", agent, want, found)
	}
}

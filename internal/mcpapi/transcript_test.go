package mcpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// step is one message of a transcript. In it, META is the metadata of a request of the current revision, and TASKS is the same with the
// extension of tasks.
type step struct {
	about   string
	message string
	before  func(h *hubFixture) // happens first
	until   string              // send it again until the answer has this
	save    string              // what the pattern finds becomes SAVED in later messages
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{CAPABLE}}`

// filled returns a message with its metadata.
func filled(message, saved string) string {
	message = strings.ReplaceAll(message, `"TASKS"`, strings.Replace(meta, "CAPABLE", `"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1))
	message = strings.ReplaceAll(message, `"META"`, strings.Replace(meta, "CAPABLE", "", 1))
	return strings.ReplaceAll(message, "SAVED", saved)
}

// call returns a call of a tool.
func call(tool, args string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,"META"}}`
}

func asTask(message string) string { return strings.Replace(message, `"META"`, `"TASKS"`, 1) }

func method(name, params string) string {
	return `{"jsonrpc":"2.0","id":"x","method":"` + name + `","params":{` + params + `"META"}}`
}

func taskMethod(name string) string { return asTask(method(name, `"taskId":"SAVED",`)) }

func sayToAna(words string) func(*hubFixture) {
	return func(h *hubFixture) { h.SendDM("ben", "ana", words) }
}

// everyTool is each tool once, and each kind of error.
var everyTool = []step{
	{about: "no message yet", message: call("check_inbox", `{}`)},
	{about: "a message", message: call("check_inbox", `{"wait":20}`), before: sayToAna("Pears are ripe.\n# not a heading"), save: `"id":"(m\d+)"`},
	{about: "acknowledge it", message: call("check_inbox", `{"ack":["SAVED"]}`)},
	{about: "look only", message: call("check_inbox", `{"peek":true}`), before: sayToAna("And apples."), save: `"id":"(m\d+)"`},
	{about: "reply", message: call("reply", `{"message":"SAVED","content":"Good."}`)},
	{about: "post", message: call("send_channel_message", `{"channelId":"#fruit","content":"Pears, @ben."}`)},
	{about: "read", message: call("read_conversation", `{"conversation":"#fruit","limit":5}`)},
	{about: "notify", message: call("contact_agent", `{"action":"notify","agentId":"ben","message":"Plums too."}`)},
	{about: "delegate", message: call("contact_agent", `{"action":"delegate","agentId":"ben","message":"Pick them."}`)},
	{about: "an ask without an answer in time gives a ticket", message: call("contact_agent", `{"action":"ask","agentId":"ben","message":"Which?"}`)},
	{about: "who", message: call("query_workspace", `{"action":"whoami"}`)},
	{about: "tasks", message: call("query_workspace", `{"action":"list_tasks"}`)},
	{about: "another's task", message: call("update_task", `{"task":"task-1","status":"completed"}`)},
	{about: "no such approval", message: call("decide_approval", `{"id":"approval-9","approve":true}`)},
	{about: "no such session", message: call("sessions_send", `{"sessionKey":"none","message":"hello"}`)},
	{about: "an argument that the tool does not have", message: call("reply", `{"message":"m1","content":"x","colour":"red"}`)},
	{about: "an argument twice", message: call("reply", `{"message":"m1","message":"m2","content":"x"}`)},
	{about: "a missing argument", message: call("reply", `{"message":"m1"}`)},
	{about: "a conversation of nobody", message: call("read_conversation", `{"conversation":"nowhere"}`)},
	{about: "no such tool", message: call("bake", `{}`)},
	{about: "prompts", message: method("prompts/list", "")},
	{about: "a prompt", message: method("prompts/get", `"name":"review_request","arguments":{"agent":"ben","subject":"the pears"},`)},
	{about: "no such prompt", message: method("prompts/get", `"name":"bake",`)},
	{about: "a prompt without its argument", message: method("prompts/get", `"name":"hand_over",`)},
	{about: "a prompt with another argument", message: method("prompts/get", `"name":"standup","arguments":{"colour":"red"},`)},
	{about: "templates", message: method("resources/templates/list", "")},
	{about: "a resource", message: method("resources/read", `"uri":"parley://agents/ben",`)},
	{about: "no such resource", message: method("resources/read", `"uri":"parley://agents/nobody",`)},
	{about: "no such kind of resource", message: method("resources/read", `"uri":"parley://fruit/1",`)},
}

// tasksSteps are calls that become tasks.
var tasksSteps = []step{
	{about: "tasks are not declared", message: method("tasks/get", `"taskId":"ask-m1",`)},
	{about: "no such task", message: asTask(method("tasks/get", `"taskId":"ask-m999",`))},
	{about: "an ask becomes a task", message: asTask(call("contact_agent", `{"action":"ask","agentId":"ben","message":"Red or green?"}`)), save: `"taskId":"([^"]+)"`},
	{about: "it works", message: taskMethod("tasks/get")},
	{about: "it has ended", message: taskMethod("tasks/get"), before: answerAsk("Green."), until: `"completed"`},
	{about: "it stays ended", message: taskMethod("tasks/get")},
	{about: "another ask", message: asTask(call("contact_agent", `{"action":"ask","agentId":"ben","message":"Sweet?"}`)), save: `"taskId":"([^"]+)"`},
	{about: "cancel", message: taskMethod("tasks/cancel")},
	{about: "it is cancelled", message: taskMethod("tasks/get")},
	{about: "messages end a waiting check_inbox at once", message: asTask(call("check_inbox", `{"wait":20}`)), before: sayToAna("First.")},
	{about: "a waiting check_inbox becomes a task", message: asTask(call("check_inbox", `{"wait":20}`)), save: `"taskId":"([^"]+)"`},
	{about: "it works", message: taskMethod("tasks/get")},
	{about: "a message ends it", message: taskMethod("tasks/get"), before: sayToAna("Done."), until: `"completed"`},
	{about: "it keeps its result", message: taskMethod("tasks/get")},
}

// answerAsk answers the newest message in ben's inbox.
func answerAsk(words string) func(*hubFixture) {
	return func(h *hubFixture) {
		taken := h.TakeAs("ben", parley.Take{Limit: 100})
		h.ReplyAs("ben", taken.Messages[len(taken.Messages)-1].ID, words)
	}
}

var current = append(append([]step{
	{about: "discover", message: method("server/discover", "")},
	{about: "tools", message: method("tools/list", "")},
}, everyTool...), tasksSteps...)

var earlier = append([]step{
	{about: "initialize", message: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`},
	{about: "initialized", message: `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
	{about: "ping", message: `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	{about: "tools", message: `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`},
	{
		about:   "a call that waits tells its progress",
		message: `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"contact_agent","arguments":{"action":"ask","agentId":"ben","message":"Now?"},"_meta":{"progressToken":"p"}}}`,
	},
}, withoutMeta(everyTool)...)

func withoutMeta(list []step) (plain []step) {
	for _, s := range list {
		s.message = strings.Replace(strings.Replace(s.message, `,"META"`, "", 1), `"META"`, "", 1)
		plain = append(plain, s)
	}
	return plain
}

// plainLease is what a client over HTTP without a session reads with the messages that it took.
const plainLease = "Answer each with reply, or acknowledge it with ack, within 60 s, or it comes again; after 5 times it fails."

// TestTranscripts compares what the server says with the transcripts in testdata. Over both transports it says the same.
func TestTranscripts(t *testing.T) {
	for name, steps := range map[string][]step{"current": current, "earlier": earlier} {
		file := filepath.Join("testdata", name+".golden")
		t.Run(name+", http", func(t *testing.T) {
			h := newHub(t, quick())
			got := transcript(t, h, &web{hub: h, agent: "ana"}, steps)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, file, got)
		})
		t.Run(name+", stdio", func(t *testing.T) {
			h := newHub(t, quick())
			got := transcript(t, h, newPipe(t, h, "ana", quick()), steps)
			compare(t, file, strings.ReplaceAll(got, "Answer with reply, or acknowledge with ack.", plainLease)) // it has a session
		})
	}
}

// compare names the first line in which a transcript differs from its file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wanted, lines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(wanted), len(lines)) {
		a, b := "", ""
		if i < len(wanted) {
			a = wanted[i]
		}
		if i < len(lines) {
			b = lines[i]
		}
		if a != b {
			t.Fatalf("%s:%d has\n%s\nand the server says\n%s\nIf that is meant, run the test with -update.", file, i+1, a, b)
		}
	}
}

func transcript(t *testing.T, h *hubFixture, p peer, steps []step) string {
	t.Helper()
	var out strings.Builder
	var saved string
	names := &stableNames{seen: map[string]string{}}
	for _, s := range steps {
		if s.before != nil {
			s.before(h)
		}
		message := filled(s.message, saved)
		got := p.send(t, message)
		for s.until != "" && !strings.Contains(string(last(got)), s.until) {
			got = p.send(t, message)
		}
		if s.save != "" {
			saved = string(regexp.MustCompile(s.save).FindSubmatch(last(got))[1])
		}
		fmt.Fprintf(&out, "# %s\n> %s\n", s.about, names.in(strings.ReplaceAll(s.message, "SAVED", saved)))
		for _, m := range got.messages {
			fmt.Fprintf(&out, "< %s\n", names.in(string(indented(t, m))))
		}
	}
	return out.String()
}

func last(a answer) json.RawMessage {
	if len(a.messages) == 0 {
		return nil
	}
	return a.messages[len(a.messages)-1]
}

// indented returns a message over several lines, with its fields in one order.
func indented(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if message, ok := value.(map[string]any); ok { // each answer has the name of the server
		if result, ok := message["result"].(map[string]any); ok && result["capabilities"] == nil {
			delete(result, "_meta")
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

// stableNames replaces what differs from run to run.
type stableNames struct{ seen map[string]string }

var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+Z|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?|\bm\d+\b|inbox-[a-z2-7]{26}-[0-9a-f]+|"version": "[^"]*"`)

func (n *stableNames) in(text string) string {
	return changing.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case strings.HasPrefix(found, `"version"`):
			return `"version": "<version>"`
		case strings.HasPrefix(found, "inbox-"):
			return "<inbox task>"
		case strings.Contains(found, "T") || strings.Contains(found, ":"):
			return "<time>"
		}
		if n.seen[found] == "" {
			n.seen[found] = fmt.Sprintf("<id %d>", len(n.seen)+1)
		}
		return n.seen[found]
	})
}

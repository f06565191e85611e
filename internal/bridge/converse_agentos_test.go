package bridge_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

func channelTown(t *testing.T) *bridgedHub {
	t.Helper()
	return newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutAgentOS, Agents: []string{"codex"}}, map[string]string{"claude": "- else:\n    - reply: heard\n"})
}

// said puts what codex says into the channel paper.
func (w *bridgedHub) said(n int, to, text string) string {
	w.t.Helper()
	name := fmt.Sprintf("msg-20260111-163315-codex-%04x", n)
	w.put("channels/paper/"+name+".json", map[string]any{
		"id": name, "timestamp": "2026-01-11T16:33:15.123Z", "session_id": "paper", "from": "codex", "to": to, "type": "chat",
		"content":  map[string]any{"text": text, "code": nil, "artifacts": []any{}},
		"metadata": map[string]any{"mode": "chat", "turn": "codex"},
	})
	return name
}

// texts are what the messages of the channel say, in their order.
func (w *bridgedHub) texts() (list []string) {
	page, err := w.History(w.t.Context(), owner, "paper", parley.Page{Limit: 500})
	if err != nil {
		return nil // there is no channel yet
	}
	for _, m := range page {
		list = append(list, m.Content.Text)
	}
	slices.Sort(list)
	return list
}

// TestChannelsAreJoinedBothWays has what lay in a channel be history, and what comes be heard and answered, with the bridge killed
// after each of its steps.
func TestChannelsAreJoinedBothWays(t *testing.T) {
	for _, at := range append([]step{"never"}, steps...) {
		t.Run(string(at), func(t *testing.T) {
			w := channelTown(t)
			lay := 5
			if at == stored {
				lay = 110 // more than are stored at once
			}
			var want []string
			for n := range lay {
				w.said(n, "claude", fmt.Sprintf("old %03d", n))
				want = append(want, fmt.Sprintf("old %03d", n))
			}
			w.die.Store(&at)
			w.join()
			w.until("history", func() bool { return len(w.texts()) == lay })
			asked := w.said(lay, "claude", "new")
			want = slices.Concat([]string{"heard", "new"}, want)
			slices.Sort(want)
			w.until("the answer", func() bool { return len(w.files("channels/paper")) == lay+2 })
			w.until("the kill", func() bool { return at == "never" || w.kills.Load() == 1 })
			if got := w.texts(); !slices.Equal(got, want) {
				t.Errorf("%d messages, want %d: %q", len(got), len(want), got)
			}
			answers := slices.DeleteFunc(w.files("channels/paper"), func(at string) bool { return !strings.Contains(at, "-claude-") })
			if len(answers) != 1 {
				t.Fatalf("the answers: %q", answers)
			}
			if d := w.document(answers[0]); d["from"] != "claude" || !strings.Contains(w.text(answers[0]), asked) && d["to"] != "codex" {
				t.Errorf("the answer: %v", d)
			}
		})
	}
}

// TestTheEndOfATaskSaysWhetherARunHasWorked: its mode is that of a watcher if a run has done the task, and chat if somebody else has.
func TestTheEndOfATaskSaysWhetherARunHasWorked(t *testing.T) {
	for agent, want := range map[string]string{"claude": "watcher", "gil": "chat"} {
		w := channelTown(t)
		gil := w.attached("gil")
		w.join()
		w.until("the beginning", func() bool { return len(w.files(".parley/added")) == 1 })
		const id = "msg-20260102-030405-codex-0001"
		w.put("channels/paper/"+id+".json", map[string]any{
			"id": id, "timestamp": "2026-01-02T03:04:05Z", "session_id": "paper", "from": "codex", "to": agent, "type": "task_assign",
			"content": map[string]any{"text": "Check the figures"},
		})
		if agent == "gil" {
			if _, err := w.UpdateTask(t.Context(), gil, w.request("gil").ID, parley.TaskChange{Status: parley.TaskCompleted}); err != nil {
				t.Fatal(err)
			}
		}
		w.until("the end", func() bool { return len(w.files("channels/paper")) == 2 })
		for _, at := range w.files("channels/paper") {
			d := w.document(at)
			metadata, _ := d["metadata"].(map[string]any)
			if d["from"] == agent && (d["type"] != "task_result" || metadata["mode"] != want || metadata["in_reply_to"] != id) {
				t.Errorf("%s: the end is %v, want the mode %s", agent, d, want)
			}
		}
	}
}

func TestPresenceIsMirroredBothWays(t *testing.T) {
	w := channelTown(t)
	w.join()
	state := func(agent string) parley.State {
		who, err := w.Who(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range who {
			if p.ID == agent {
				return p.State
			}
		}
		return ""
	}
	if got := state("codex"); got == parley.Awake {
		t.Fatalf("codex is %s before it has written", got)
	}
	beat := func(s string) {
		w.put("signals/presence/codex.json", map[string]any{
			"agent_id": "codex", "timestamp": time.Now().UTC().Format(time.RFC3339), "state": s, "substate": "IDLE", "watcher_pid": os.Getpid(), "channel": "paper",
		})
	}
	beat("AWAKE")
	w.until("codex is there", func() bool { return state("codex") == parley.Awake })
	w.until("the file of claude", func() bool { return len(w.files("signals/presence")) >= 2 })
	if d := w.document("signals/presence/claude.json"); d["agent_id"] != "claude" || len(d) != 6 {
		t.Errorf("claude: %v", d)
	}
	beat("OFFLINE")
	w.until("codex has gone", func() bool { return state("codex") != parley.Awake })
}

// Ids of S3 that are none here, one because of how it begins, one because it is too long.
func TestInboxesOfAgentsWithMappedNames(t *testing.T) {
	for _, native := range []string{"_x", strings.Repeat("n", 70)} {
		t.Run(native, func(t *testing.T) {
			w := newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutInbox, Agents: []string{"coder", mapped(native)}}, map[string]string{
				"ana": "- else:\n    - reply: heard\n",
			})
			inbox := "state/agents/" + native + "/inbox"
			w.put(inbox+"/msg_00000009.json", routed(9, "coder", native, "status-update", map[string]any{"status": "completed", "message": "of a script"}))
			w.join()
			w.put(anaInbox+"/msg_00000001.json", routed(1, native, "ana", "task-delegation", map[string]any{"task": "Look"}))
			w.until("the result", func() bool { return w.kinds(inbox)["result"] > 0 })
			if d := w.awaitKind(inbox, "result"); d["to"] != native || d["from"] != "ana" || d["correlation_id"] != "msg_00000001" {
				t.Errorf("the result: %v", d)
			}
			die := stored // it is killed and comes back, and finds its own
			w.die.Store(&die)
			w.put(anaInbox+"/msg_00000002.json", routed(2, native, "ana", "status-update", map[string]any{"status": "completed", "message": "bye"}))
			w.until("the kill", func() bool { return w.kills.Load() == 1 })
			w.until("it is taken", func() bool { return len(w.files(anaInbox)) == 0 })
			var texts []string
			for _, id := range []string{w.directOf(mapped(native), "ana"), w.directOf(mapped(native), "coder")} {
				list, err := w.History(t.Context(), owner, id, parley.Page{Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range list {
					texts = append(texts, m.From+": "+m.Content.Text)
				}
			}
			me := mapped(native)
			slices.Sort(texts)
			want := []string{"ana: heard", "coder: of a script", me + ": Look", me + ": bye"}
			slices.Sort(want)
			if got := slices.DeleteFunc(slices.Compact(texts), func(s string) bool { return !slices.Contains(want, s) }); !slices.Equal(got, want) {
				t.Errorf("said: %q, want %q", got, want)
			}
			if dirs := w.files("state/agents"); slices.ContainsFunc(dirs, func(at string) bool { return strings.Contains(at, "/"+me+"/") }) {
				t.Errorf("a folder nobody reads was made: %q", dirs)
			}
		})
	}
}

func mapped(native string) string {
	id, _ := dialect.AgentID(dialect.Routing, native)
	return id
}

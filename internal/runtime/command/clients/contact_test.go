//go:build clients

package clients

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
)

// turn is what a model does when a request matches: it answers with a text, or calls its shell with a command.
type turn struct{ when, text, command string }

// playTurns makes the model take the last of the turns that matches a request. A $ in the text of a turn stands for the match.
// Clients also request other things than an answer, such as a title. Such a request offers no shell.
func (h *hub) playTurns(turns ...turn) {
	h.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		for _, do := range slices.Backward(turns) {
			match := regexp.MustCompile(do.when).FindString(strings.Join(r.Texts, "\n"))
			switch {
			case match == "" || !slices.Contains(r.Tools, h.shell.tool):
			case do.command != "":
				return h.shell.calls(do.command)
			default:
				return modeltest.Answer{Text: strings.ReplaceAll(do.text, "$", match), Input: inputTokens, Output: outputTokens}
			}
		}
		return theAnswer
	})
}

// addScript adds an agent that follows rules.
func (h *hub) addScript(t *testing.T, id, rules string) {
	t.Helper()
	file := filepath.Join(h.home, id+".yaml")
	write(t, file, rules)
	h.parley(t, "agent", "add", id, "--runtime", "script", "--rules", file)
}

// aCounter is the rules of an agent that always gives the same answer.
const aCounter = "[{else: [{reply: There are twelve crates.}]}]"

func TestTheShellOfAClientAsks(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		h.addScript(t, "bot", aCounter)
		h.playTurns(
			turn{when: "Is there enough", command: `parley ask bot "How many tangerines are there?" --context "For the market"`},
			turn{when: "Response from bot: There are twelve crates\\.", text: "I was told: $"},
		)
		if text := h.ask(t, "ana", "--dm", "Is there enough?"); text != "I was told: Response from bot: There are twelve crates." {
			t.Errorf("the answer is %q", text)
		}
		run, asked := h.run(t), h.runs(t, "bot")
		if len(asked) != 1 || asked[0].Depth != 1 || run.Depth != 0 || run.Task != "" || asked[0].TraceID != run.TraceID {
			t.Fatalf("the run is %+v, and has led to %+v", run.Run, asked)
		}
		wantPosted(t, h, run.RunView, asked[0].Triggers[0], "[Agent Request from ana | Pattern: ask]\n\nContext: For the market\n\nHow many tangerines are there?")
		want := []string{"ana running", "ana waiting", "bot running", "ana running", "bot succeeded", "ana succeeded"}
		if states := h.states(t, len(want)); !slices.Equal(states, want) {
			t.Errorf("the runs went %q", states)
		}
	})
}

// wantPosted checks that a run has posted a message with this text.
func wantPosted(t *testing.T, h *hub, r parley.RunView, id, text string) {
	t.Helper()
	for _, m := range lines[parley.Message](t, h.parley(t, "trace", r.TraceID, "-o", "jsonl")) {
		if m.ID == id && m.Content.Text == text && slices.Contains(r.Posts, id) {
			return
		}
	}
	t.Errorf("run %s has posted %v, and not %s: %q", r.ID, r.Posts, id, text)
}

// states returns the first states that runs have reached, without the states before their begin.
func (h *hub) states(t *testing.T, count int) (states []string) {
	t.Helper()
	kinds := "run.running,run.waiting,run.succeeded,run.failed"
	for _, e := range lines[parley.Event](t, h.parley(t, "watch", "--after", "0", "--kinds", kinds, "--limit", strconv.Itoa(count), "-o", "jsonl")) {
		states = append(states, e.Agent+" "+strings.TrimPrefix(string(e.Kind), "run."))
	}
	return states
}

func TestTheShellOfAClientDelegates(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		h.addScript(t, "bot", aCounter)
		h.playTurns(
			turn{when: "Prepare the list", command: `parley delegate bot "Count the tangerines" --priority high`},
			turn{when: "Delegated to bot \\(subtask task-\\d+\\)", text: "I have work done."},
			turn{when: `\[Delegation Result from bot \| task-\d+\]`, text: "It is there: $"},
		)
		if text := h.ask(t, "ana", "--dm", "Prepare the list.\nBy noon."); text != "I have work done." {
			t.Errorf("the answer is %q", text)
		}
		tree := h.wantTree(t)
		first, second := h.wantRunsOf(t, tree[0])
		h.api.findRequest(t, "Prepare the list", "I have work done.", "[Delegation Result from bot | "+tree[1].ID+"]", "There are twelve crates.")
		if want := "It is there: [Delegation Result from bot | " + tree[1].ID + "]"; tree[0].Result.Words() != want || tree[1].Result.Words() != "There are twelve crates." {
			t.Errorf("the results are %q and %q", tree[0].Result.Words(), tree[1].Result.Words())
		}
		wantPosted(t, h, first, tree[1].Message, "[Agent Request from ana | Pattern: delegate | Priority: high | Task: "+tree[1].ID+"]\n\nCount the tangerines")
		wantPosted(t, h, second, second.Answer, tree[0].Result.Words())
	})
}

// wantTree waits until the client's task has ended, and checks that it has one subtask.
func (h *hub) wantTree(t *testing.T) []parley.TaskView {
	t.Helper()
	root := h.run(t).Task
	h.parley(t, "task", "tree", root, "--watch")
	tree := lines[parley.TaskView](t, h.parley(t, "task", "tree", root, "-o", "jsonl"))
	if len(tree) != 2 || tree[1].Parent != root || tree[1].Depth != 1 || tree[0].Assignee != "ana" || tree[0].Requester != "user" ||
		tree[1].Requester != "ana" || tree[1].OriginalRequester != "user" || tree[1].Priority.Class() != "high" {
		t.Fatalf("the tasks are %+v", tree)
	}
	drawn := regexp.MustCompile(`^` + root + `: "Prepare the list." \(ana\) — COMPLETED ✓  \(finished \d\d:\d\d\)\n` +
		`  └── ` + tree[1].ID + `: "Count the tangerines" \(bot\) — COMPLETED ✓  \(finished \d\d:\d\d\)\n$`)
	if picture := h.parley(t, "task", "tree", root); !drawn.MatchString(picture) {
		t.Errorf("the picture is\n%s", picture)
	}
	return tree
}

// wantRunsOf checks that a task has two runs of the client in one session, and that the hub woke the second.
func (h *hub) wantRunsOf(t *testing.T, task parley.TaskView) (first, second parley.RunView) {
	t.Helper()
	runs := h.runs(t, "ana")
	if len(runs) != 2 {
		t.Fatalf("the runs are %+v", runs)
	}
	read(t, h.parley(t, "agent", "run", runs[1].ID, "-o", "json"), &first)
	read(t, h.parley(t, "agent", "run", runs[0].ID, "-o", "json"), &second)
	for _, r := range []parley.RunView{first, second} {
		if r.Task != task.ID || r.Session == "" || r.Session != first.Session || r.Conversation != first.Conversation || r.State != parley.RunSucceeded {
			t.Errorf("in %s there is %+v", task.ID, r)
		}
	}
	bot := h.runs(t, "bot")
	if len(bot) != 1 || bot[0].Depth != 0 || !slices.Equal(second.Triggers, []string{h.task(t, bot[0].Task).Callback}) {
		t.Errorf("woken by %v after %+v", second.Triggers, bot)
	}
	return first, second
}

func (h *hub) task(t *testing.T, id string) (task parley.TaskView) {
	t.Helper()
	read(t, h.parley(t, "task", "show", id, "-o", "json"), &task)
	return task
}

func TestAClientIsAsked(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		h.ask(t, "ana", "--dm", "Remember the word tangerine.")
		before := h.run(t)
		if text := h.parley(t, "ask", "ana", "Which fruit was it?"); text != "Response from ana: "+answer+"\n" {
			t.Errorf("the answer is %q", text)
		}
		if r := h.run(t); r.Depth != 1 || r.Session == "" || r.Session == before.Session {
			t.Errorf("in session %s it was asked by %+v", before.Session, r.Run)
		}
		h.ask(t, "ana", "--dm", "And now?")
		if r := h.run(t); r.Depth != 0 || r.Session != before.Session {
			t.Errorf("session %s became that of %+v", before.Session, r.Run)
		}
	})
}

// TestDepthOfAsksPassesThroughAClient checks that the token in the shell of a client carries the depth of an ask.
func TestDepthOfAsksPassesThroughAClient(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		h.addScript(t, "boss", "[{else: [{ask: {agent: ana, message: Is there enough?, save: said}}, {reply: '{{.Saved.said}}'}]}]")
		h.addScript(t, "bot", "[{else: [{ask: {agent: boss, message: Is there?, otherwise: [{reply: '{{.Error}}'}]}}]}]")
		h.playTurns(turn{when: "Is there enough", command: `parley ask bot "How many are there?"`}, turn{when: "Response from bot: .*nesting\\.", text: "$"})
		const want = "Response from boss: Response from ana: Response from bot: " +
			"Error: Maximum agent communication depth (3) reached. Use 'delegate' for async to avoid nesting.\n"
		if text := h.parley(t, "ask", "boss", "Is there enough?"); text != want {
			t.Errorf("the answer is %q", text)
		}
		for i, agent := range []string{"boss", "ana", "bot"} {
			if runs := h.runs(t, agent); len(runs) != 1 || runs[0].Depth != i+1 {
				t.Errorf("%s has run %+v", agent, runs)
			}
		}
	})
}

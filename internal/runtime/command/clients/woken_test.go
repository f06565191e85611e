//go:build clients

package clients

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
)

// answerTangerines makes the model of Claude Code answer a message about tangerines by the tool reply.
func answerTangerines(r modeltest.Request) modeltest.Answer {
	id := messageIn(r, "the tangerines")
	if id == "" {
		id = messageOfTask(r)
	}
	if id != "" && len(r.Tools) > 0 && !strings.Contains(string(r.Body), "They are ripe.") {
		return call("mcp__parley__reply", object{"message": id, "content": "They are ripe."})
	}
	return theAnswer
}

// messageOfTask returns the id of the message in the result of a task, or "". Claude Code shows the structured result there, and not the
// text.
func messageOfTask(r modeltest.Request) string {
	for _, text := range textsWith(r, "<task-notification>") {
		_, list, _ := strings.Cut(text, "<result>")
		list, _, _ = strings.Cut(list, "</result>")
		var result struct{ Messages []parley.Message }
		if json.Unmarshal([]byte(list), &result) == nil && len(result.Messages) == 1 {
			return result.Messages[0].ID
		}
	}
	return ""
}

// TestClaudeIsWokenBeforeItsFirstTurn: connect registers the waiting hook with the start of the session too.
func TestClaudeIsWokenBeforeItsFirstTurn(t *testing.T) {
	a := openClaude(t)
	a.api.answerBy(answerTangerines)
	if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
		t.Errorf("it answered %q", text)
	}
}

// TestClaudeIsWokenByATask: Claude Code calls check_inbox, which becomes a task of the protocol, and is idle. A message ends the task,
// and Claude Code begins a turn by itself with the message in it. Its hooks are off, so that nothing else can wake it.
func TestClaudeIsWokenByATask(t *testing.T) {
	a := openClaudeWith(t, func(a *attached) { a.changeSettings(t, object{"disableAllHooks": true}) })
	a.waitByATask(t)
	if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
		t.Errorf("it answered %q", text)
	}
	if id := messageOfTask(a.api.findRequest(t, "How are the tangerines?", "<task-notification>")); id == "" {
		t.Error("the message was not in the result of a task")
	}
}

// TestClaudeWithATaskAndAHookIsWokenOnce: both wait for a message. One of them gets it.
func TestClaudeWithATaskAndAHookIsWokenOnce(t *testing.T) {
	a := openClaude(t)
	a.waitByATask(t)
	if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
		t.Errorf("it answered %q", text)
	}
	last := a.api.findRequest(t, "How are the tangerines?")
	if n := strings.Count(strings.Join(last.Texts, "\n"), "How are the tangerines?"); n != 1 {
		t.Errorf("the message is %d times in %q", n, last.Texts)
	}
}

// waitByATask makes Claude Code wait for mail by check_inbox, and returns when its turn has ended while the task goes on.
func (a *attached) waitByATask(t *testing.T) {
	t.Helper()
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if len(r.Tools) > 0 && r.HasText("wait for mail") && !strings.Contains(string(r.Body), `"type":"tool_result"`) {
			return call("mcp__parley__check_inbox", object{"wait": 50})
		}
		return answerTangerines(r)
	})
	a.say(t, "wait for mail")
	a.term.Await(answer)
	a.term.Await("1 MCP task still running")
}

//go:build clients

package clients

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
)

// dialogOfOpenCode is what OpenCode asks the person on its terminal.
const dialogOfOpenCode = "Permission required"

// openAskingOpenCode opens an OpenCode that asks before it runs a command.
func openAskingOpenCode(t *testing.T) *attached {
	t.Helper()
	a := connectedAskingOpenCode(t)
	a.start(t)
	a.term.Await("Ask anything")
	return a
}

// connectedAskingOpenCode connects an OpenCode that asks before it runs a command. Its model calls deploy.sh once it is told so.
func connectedAskingOpenCode(t *testing.T) *attached {
	t.Helper()
	a := connectedHub(t, "opencode", func(a *attached) {
		settings := object{}
		read(t, a.file("opencode.json"), &settings)
		settings["permission"] = object{"bash": "ask"}
		writeJSON(t, filepath.Join(a.home, "opencode.json"), settings)
	})
	write(t, filepath.Join(a.work, "deploy.sh"), "touch deployed")
	var called atomic.Bool
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if len(r.Tools) > 0 && r.HasText("deploy it") && !called.Swap(true) {
			return call("bash", object{"command": "sh deploy.sh", "description": "deploys"})
		}
		return theAnswer
	})
	return a
}

// hasDeployed reports whether the command has run.
func (a *attached) hasDeployed() bool {
	_, err := os.Stat(filepath.Join(a.work, "deployed"))
	return err == nil
}

// TestOpenCodeAsksByAnApproval: a person allows or denies a command by parley approval, and OpenCode obeys. It closes its own dialog.
func TestOpenCodeAsksByAnApproval(t *testing.T) {
	for _, allow := range []bool{true, false} {
		t.Run(strconv.FormatBool(allow), func(t *testing.T) {
			a := openAskingOpenCode(t)
			a.say(t, "deploy it")
			pending := a.awaitApproval(t)
			a.term.Await(dialogOfOpenCode)
			if !strings.Contains(pending.Summary, `Command: "sh deploy.sh"`) || !strings.Contains(pending.Summary, `"deploys"`) || pending.Agent != "ana" || a.hasDeployed() {
				t.Errorf("approval %+v, deployed: %v", pending, a.hasDeployed())
			}
			decision := map[bool]string{true: "approve", false: "deny"}[allow]
			a.parley(t, "approval", decision, pending.ShortName(), "--note", "because")
			a.term.Await(answer)
			if a.hasDeployed() != allow || strings.Contains(a.term.Screen(), dialogOfOpenCode) {
				t.Errorf("deployed: %v\n%s", a.hasDeployed(), a.term.Screen())
			}
			if !allow {
				a.api.findRequest(t, "Denied in Parley by user. Note: because")
			}
		})
	}
}

// TestThePersonAnswersInOpenCode: then nobody can decide about the approval any more.
func TestThePersonAnswersInOpenCode(t *testing.T) {
	a := openAskingOpenCode(t)
	a.say(t, "deploy it")
	pending := a.awaitApproval(t)
	a.term.Await(dialogOfOpenCode)
	a.pressEnter(t, dialogOfOpenCode)
	a.awaitFile(t, "deployed")
	a.awaitApprovalState(t, pending, parley.ApprovalWithdrawn)
}

// TestOpenCodeAsksWithoutAHub: the hub is away, and only the dialog of OpenCode is there.
func TestOpenCodeAsksWithoutAHub(t *testing.T) {
	a := openAskingOpenCode(t)
	a.down(t)
	a.say(t, "deploy it")
	a.term.Await(dialogOfOpenCode)
	a.pressEnter(t, dialogOfOpenCode)
	a.awaitFile(t, "deployed")
	a.term.Await(answer)
}

// TestAnInterruptedOpenCodeAsksNobody: a turn is interrupted while a person is asked. Then nobody can decide about the approval.
func TestAnInterruptedOpenCodeAsksNobody(t *testing.T) {
	a := connectedAskingOpenCode(t)
	var session struct{ ID string }
	server := a.openCodeServer(t)
	post(t, server+"/session", "{}", &session)
	post(t, server+"/session/"+session.ID+"/prompt_async", `{"parts": [{"type": "text", "text": "deploy it"}]}`, nil)
	pending := a.awaitApproval(t)
	post(t, server+"/session/"+session.ID+"/abort", "", nil)
	a.awaitApprovalState(t, pending, parley.ApprovalWithdrawn)
}

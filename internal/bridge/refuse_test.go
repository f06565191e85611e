package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// brokenDocs are documents of coder that are refused in each layout, by what is wrong with them.
func brokenDocs(l parley.Layout) map[string]string {
	good := map[parley.Layout]string{
		parley.LayoutAgentOS: strings.ReplaceAll(doc(name(1), "paper", "hello"), `"codex"`, `"coder"`),
		parley.LayoutInbox:   mailDoc(l, 1, 1, "ana"), parley.LayoutBlackboard: mailDoc(parley.LayoutBlackboard, 1, 1, "ana"),
	}[l]
	return map[string]string{
		"a type that there is not": strings.NewReplacer(`"chat"`, `"Chat!"`, `"status-update"`, `"status_update"`, `"notification"`, `"note"`).Replace(good),
		"cut short":                good[:len(good)-5],
		"too large":                strings.Replace(good, "hello", strings.Repeat("x", documentSize+1), 1),
	}
}

// TestTheHubLearnsTheSenderOfABrokenDocument: the hub hears who wrote it and what is wrong, once, also after a restart.
func TestTheHubLearnsTheSenderOfABrokenDocument(t *testing.T) {
	for _, l := range []parley.Layout{parley.LayoutAgentOS, parley.LayoutInbox, parley.LayoutBlackboard} {
		for what, text := range brokenDocs(l) {
			t.Run(string(l)+"/"+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newBridgeFixtureWith(t, l)
					folder, id := newLayout(l, layoutBase{}).targetFolder(parley.Departure{Recipient: "ana", Channel: "paper"}), "m-1"
					switch l {
					case parley.LayoutInbox:
						id = "msg_00000001"
					case parley.LayoutAgentOS:
						id = name(1)
					}
					at := folder + "/" + id + ".json"
					s.must(os.MkdirAll(s.at(folder), 0o755))
					s.during(func() {
						s.polls(1)
						s.put(at, text)
						s.polls(6)
					})
					s.during(func() { s.polls(1) })
					if len(s.hub.refused) != 1 {
						t.Fatalf("told %d times: %+v", len(s.hub.refused), s.hub.refused)
					}
					got := s.hub.refused[0]
					if got.From != "coder" || got.Name != id || got.Path != at || got.Refused.Code != parley.BadInput {
						t.Errorf("told: %+v", got)
					}
					s.refused(at, "")
				})
			})
		}
	}
}

// TestBrokenDocumentsWithoutASenderToInformAreNotReported: the sender cannot be read, is a stranger, or wrote to another script;
// and what lay in a channel before the bridge is history.
func TestBrokenDocumentsWithoutASenderToInformAreNotReported(t *testing.T) {
	for what, c := range map[string]struct {
		layout parley.Layout
		at     string
		text   string
		before bool
	}{
		"no sender":                 {layout: parley.LayoutInbox, at: anas + "x.json", text: `{"msg_id":"msg_00000001"}`},
		"a stranger":                {layout: parley.LayoutInbox, at: anas + "x.json", text: `{"msg_id":"msg_00000001","from":"ana"}`},
		"between scripts":           {layout: parley.LayoutInbox, at: coderInbox + "/x.json", text: `{"msg_id":"msg_00000001","from":"coder"}`},
		"in a channel beforehand":   {layout: parley.LayoutAgentOS, at: "channels/paper/x.json", text: `{"id":"x","from":"coder"}`, before: true},
		"a name that hides a line":  {layout: parley.LayoutInbox, at: anas + "a\nb.json", text: `{"msg_id":"msg_00000001","from":"coder"}`},
		"an id that cannot be kept": {layout: parley.LayoutInbox, at: anas + "x.json", text: fmt.Sprintf(`{"msg_id":%q,"from":"coder"}`, strings.Repeat("x", 2000))},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, c.layout)
				if c.before {
					s.put(c.at, c.text)
				}
				s.during(func() {
					s.polls(1)
					s.put(c.at, c.text)
					s.polls(6)
				})
				if len(s.hub.refused) != 0 || s.hub.noted().Rejected != 1 {
					t.Errorf("told: %+v, rejected: %d", s.hub.refused, s.hub.noted().Rejected)
				}
			})
		})
	}
}

// TestABrokenDocumentWaitsForTheHub: while the hub is away, nothing is refused of which its sender would not hear.
func TestABrokenDocumentWaitsForTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		at := anas + "msg_00000001.json"
		s.during(func() {
			s.polls(1)
			s.hub.do(func(h *fakeHub) { h.down = errors.New("connection refused") })
			s.put(at, `{"msg_id":"msg_00000001","from":"coder"}`)
			s.polls(5)
			if _, err := os.Stat(s.at(at)); err != nil {
				t.Errorf("it was refused: %v", err)
			}
			s.hub.do(func(h *fakeHub) { h.down = nil })
			time.Sleep(time.Minute)
			synctest.Wait()
		})
		s.refused(at, "Missing required field")
		if len(s.hub.refused) != 1 {
			t.Errorf("told: %+v", s.hub.refused)
		}
	})
}

// manyIssues is a document of about 10 KB in which nearly everything is wrong, and what that is.
func manyIssues() (text string, issues []string) {
	const head = `{"version":"1.0.0","msg_id":"msg_00000001","from":"coder","to":"ana","timestamp":"2026-01-01T00:00:00Z","sequence":1,"type":"result",` +
		`"payload":{"status":"success","deliverables":{"files_modified":[`
	n := (routingLimit - len(head) - len("]}}}")) / 2
	for i := range n {
		issues = append(issues, fmt.Sprintf("payload.deliverables.files_modified.%d", i))
	}
	slices.Sort(issues)
	for i := range issues {
		issues[i] += ": expected string, got number"
	}
	return head + strings.Repeat("1,", n-1) + "1]}}}", issues
}

// TestErrorLogHasTheWholeValidationFailure: one JSON object a line, with every issue, in the form that the format prescribes.
func TestErrorLogHasTheWholeValidationFailure(t *testing.T) {
	const action = "Message discarded, logged to error.log"
	many, issues := manyIssues()
	for what, c := range map[string]struct {
		text string
		want parley.Issues
	}{
		"two fields": {
			`{"version":"1.0.0","msg_id":"msg_00000001","from":"coder","to":"ana","sequence":1,"type":"status_update","payload":{}}`,
			parley.Issues{Error: "VALIDATION_FAILED", MsgID: "msg_00000001", Action: action, Issues: []string{
				"Missing required field: timestamp",
				"Invalid type: expected 'status-update', 'task-delegation', 'result', 'command' or 'heartbeat', got 'status_update'",
			}},
		},
		"no id": {
			`{"version":"1.0.0","from":"coder","to":"ana","timestamp":"2026-01-01T00:00:00Z","sequence":1,"type":"status-update","payload":{"status":"blocked"}}`,
			parley.Issues{Error: "VALIDATION_FAILED", MsgID: "msg_00000009", Action: action, Issues: []string{"Missing required field: msg_id"}},
		},
		"thousands of issues": {many, parley.Issues{Error: "VALIDATION_FAILED", MsgID: "msg_00000001", Action: action, Issues: issues}},
		"what would hide a part of the line": {
			`{"version":"1.0.0","msg_id":"msg_0000000\u202e","from":"coder","to":"ana","timestamp":"2026-01-01T00:00:00Z","sequence":1,"type":"heartbeat","payload":{"health":"healthy"}}`,
			parley.Issues{Error: "VALIDATION_FAILED", MsgID: "msg_0000000 ", Action: action, Issues: []string{"msg_id: 'msg_0000000 ' does not match ^msg_[a-f0-9]{8}$"}},
		},
		"another version": {
			`{"version":"2.0.0","msg_id":"msg_00000001","from":"coder"}`,
			parley.Issues{Error: "VALIDATION_FAILED", MsgID: "msg_00000001", Action: action, Issues: []string{
				"the document has version 2.0.0 of routing, but the hub supports 1.0.0",
			}},
		},
		"too large": {
			`{"msg_id":"msg_00000001","from":"coder","text":"` + strings.Repeat("x", routingLimit) + `"}`,
			parley.Issues{Error: "VALIDATION_FAILED", MsgID: "msg_00000001", Action: action, Issues: []string{
				anas + "msg_00000009.json is larger than 10240 bytes",
			}},
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, parley.LayoutInbox)
				s.put(anas+"msg_00000009.json", c.text)
				for range 2 {
					s.during(func() { s.polls(1) })
				}
				var objects []parley.Issues
				for line := range strings.Lines(s.text("error.log")) {
					var one parley.Issues
					if strings.HasPrefix(line, "{") {
						s.must(json.Unmarshal([]byte(line), &one))
						objects = append(objects, one)
					}
				}
				if len(objects) != 1 || !reflect.DeepEqual(objects[0], c.want) {
					t.Errorf("error.log has %d objects: %.500s\nwant %.500s", len(objects), fmt.Sprintf("%q", objects), fmt.Sprintf("%q", c.want))
				}
			})
		})
	}
}

// TestARefusedFileHasOneReasonThoughTheBridgeRestarts: a refused file that stays where it is has one reason, however often the
// bridge starts.
func TestARefusedFileHasOneReasonThoughTheBridgeRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		text, _ := manyIssues()
		s.put(coderInbox+"/msg_00000001.json", text)
		for range 3 {
			s.during(func() { s.polls(1) })
		}
		kept, err := os.ReadDir(s.at(rejected))
		if err != nil || len(kept) != 2 {
			t.Errorf("%d files in %s, want a copy and its reason: %v", len(kept), rejected, err)
		}
	})
}

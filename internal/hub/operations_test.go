package hub_test

import (
	"context"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// withoutScope are the methods that take a caller and need no scope, each with the reason.
var withoutScope = map[string]string{
	"ActAs":           "owners only; the operation that follows asks for its scope",
	"ReadAs":          "owners only; the operation that follows asks for its scope",
	"At":              "a handle: its methods are tried here too",
	"AtWithin":        "a handle: its methods are those of At",
	"BridgeAt":        "a handle: its methods are tried here too",
	"Begin":           "counts a call against what its caller may have under way; the operation that follows asks for its scope",
	"WatchCredential": "keeps a call of any credential open, and ends it with the credential",
	"Me":              "says who calls, to itself",
	"May":             "is the question itself",
	"Refused":         "writes down that a door has refused the caller",
}

// examples returns arguments that pass every check before the check of the caller's rights.
func examples() map[reflect.Type]any {
	topic := "steel"
	list := []any{
		parley.Draft{Direct: []string{"arya"}, Content: parley.Content{Text: "hello"}},
		parley.Contact{Pattern: parley.PatternNotify, Agent: "arya", Message: "hello"},
		parley.NewConversation{Name: "forge"},
		parley.ConversationChange{Topic: &topic},
		parley.NewTask{Text: "a sword", Assignee: "arya"},
		parley.TaskChange{Progress: &parley.TaskProgress{Message: "half of it"}},
		parley.Permission{Agent: "arya", Target: "gendry", Effect: parley.EffectAllow},
		parley.NewAgent{ID: "hound"},
		parley.NewToken{Agent: "arya"},
		parley.Health{Health: "healthy"},
		parley.NewSession{Key: "k", Kind: parley.SessionStdio},
		parley.ToolUse{Client: "test", Tool: "Bash"},
		parley.Command{Action: "pause"},
		parley.NewBridge{Layout: parley.LayoutInbox, Root: "/tree", Agents: []string{"arya"}},
		parley.SearchRequest{Query: "steel"},
		parley.NewNote{Scope: parley.PrivateNote, Text: "steel"},
		parley.DeliverySeen,
		parley.EffectAllow,
		[]parley.Message{{ID: "m-1"}},
		[]parley.BridgeFile{{Path: "inbox/arya/1.json"}},
		[]parley.Arrival{{BridgeFile: parley.BridgeFile{Path: "inbox/arya/1.json"}, From: "arya", To: "gendry"}},
		[]parley.DepartureReport{{ID: "1", State: "written"}},
	}
	byType := map[reflect.Type]any{
		reflect.TypeFor[context.Context](): ctx,
		reflect.TypeFor[io.Reader]():       strings.NewReader("{}\n"),
		reflect.TypeFor[io.Writer]():       io.Discard,
		reflect.TypeFor[time.Duration]():   time.Duration(0),
		reflect.TypeFor[time.Time]():       began.Add(time.Hour),
		reflect.TypeFor[string]():          "forge",
	}
	for _, one := range list {
		byType[reflect.TypeOf(one)] = one
	}
	return byType
}

// TestScopesAreCheckedInTheHub calls every method of the hub that takes a caller with a credential that has no scopes.
// The hub refuses each, whatever door the call came by.
func TestScopesAreCheckedInTheHub(t *testing.T) {
	w := newHub(t)
	powerless := hub.Caller{Agent: parley.Owner, Source: "test", Token: "t-1", Scopes: parley.Scopes{}}
	tried := 0
	for name, method := range callables(w.Hub, powerless) {
		if _, free := withoutScope[name]; free {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			got := parley.AsError(callWithExamples(t, name, method, powerless))
			if got == nil || got.Code != parley.NotPermitted || !strings.Contains(got.Message, "a credential with the scope") {
				t.Errorf("a credential without scopes gets %v", got)
			}
		})
	}
	if tried < 80 {
		t.Errorf("only %d methods were tried", tried)
	}
}

// callables returns the methods that take a caller: those of the hub, and those of the objects that keep a caller.
func callables(h *hub.Hub, caller hub.Caller) map[string]reflect.Value {
	found := map[string]reflect.Value{}
	for typ, i := reflect.TypeOf(h), 0; i < typ.NumMethod(); i++ {
		m := typ.Method(i)
		for n := range m.Type.NumIn() {
			if m.Type.In(n) == reflect.TypeFor[hub.Caller]() {
				found[m.Name] = reflect.ValueOf(h).Method(i)
			}
		}
	}
	for name, handle := range map[string]any{"At.": h.At(caller), "BridgeAt.": h.BridgeAt(caller)} {
		for v, i := reflect.ValueOf(handle), 0; i < v.NumMethod(); i++ {
			found[name+v.Type().Method(i).Name] = v.Method(i)
		}
	}
	return found
}

func callWithExamples(t *testing.T, name string, method reflect.Value, caller hub.Caller) error {
	t.Helper()
	args := make([]reflect.Value, 0, method.Type().NumIn())
	for n := range method.Type().NumIn() {
		in := method.Type().In(n)
		switch example, known := examples()[in]; {
		case method.Type().IsVariadic() && n == method.Type().NumIn()-1:
		case in == reflect.TypeFor[hub.Caller]():
			args = append(args, reflect.ValueOf(caller))
		case name == "Export" && n == 3:
			args = append(args, reflect.ValueOf("jsonl"))
		case name == "Backup" && n == 2:
			args = append(args, reflect.ValueOf("/backup"))
		case known:
			args = append(args, reflect.ValueOf(example))
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	out := method.Call(args)
	if events, ok := out[0].Interface().(iter.Seq2[parley.Event, error]); ok {
		for _, err := range events {
			return err
		}
	}
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// TestEveryOperationHasARule reads the table: each row says who may, with which scope, and what modes hold.
func TestEveryOperationHasARule(t *testing.T) {
	noAgents := []hub.Callers{hub.Owner, hub.LocalOwner, hub.People, hub.SessionOnly, hub.Anyone, hub.Itself}
	holdings := []hub.Holding{hub.NeverHeld, hub.HeldStrict, hub.HeldSupervised}
	for id, rule := range hub.Operations() {
		if rule.ID != id || !rule.Callers.Known() {
			t.Errorf("%s: who may: %q", id, rule.Callers)
		}
		if inner := []string{"identify", "act-as", "sign-in", "itself"}; slices.Contains(inner, id) != (rule.Scope == "") {
			t.Errorf("%s: scope %q", id, rule.Scope)
		}
		if forAgents := !slices.Contains(noAgents, rule.Callers); forAgents != slices.Contains(holdings, rule.Held) {
			t.Errorf("%s is for %s, and held %q", id, rule.Callers, rule.Held)
		}
		if owners := rule.Callers == hub.Owner || rule.Callers == hub.LocalOwner; owners != (rule.Act != "") {
			t.Errorf("%s is for %s, in words %q", id, rule.Callers, rule.Act)
		}
	}
}

// TestChangesThatNoModeHoldsHaveAReason: SPEC 7.1 holds what changes what others see. A change that no mode holds needs a
// reason here.
func TestChangesThatNoModeHoldsHaveAReason(t *testing.T) {
	const (
		inbox   = "it is about the agent's own inbox"
		itself  = "it is about the agent itself, and others only see how it is doing"
		reports = "a manager and its direct reports are always allowed, the mode is skipped"
	)
	reasons := map[string]string{
		"take": inbox, "ack": inbox, "nack": inbox, "extend": inbox, "see": inbox, "settle": inbox, "mark-shown": inbox,
		"mark-read": itself, "report-health": itself, "sleep": itself, "wake": itself, "open-session": itself,
		"command": reports, "cancel-run": reports,
		// It posts nothing and wakes nobody. What a pair sends afterwards is judged by the rules and modes of its senders.
		"resume-pair":      reports,
		"update-task":      "only the assignee may, for whom the task is its own",
		"decide-approval":  "it is named as never held",
		"store-artifact":   "nobody sees an artifact before a message names it, and that is looked at",
		"request-tool-use": "a person decides about each call, whatever the mode is",
		"revoke-token":     "it takes away a credential of the agent's own",
	}
	for id, rule := range hub.Operations() {
		if rule.Changes && rule.Held == hub.NeverHeld && reasons[id] == "" {
			t.Errorf("%s changes something, no mode holds it, and nobody has said why", id)
		}
		if reasons[id] != "" && (!rule.Changes || rule.Held != hub.NeverHeld) {
			t.Errorf("%s is held %q, and needs no reason", id, rule.Held)
		}
	}
}

// TestOperationWithoutARulePanics keeps a use case from being called of which nobody has said who may.
func TestOperationWithoutARulePanics(t *testing.T) {
	w := newHub(t)
	defer func() {
		if recover() == nil {
			t.Error("an operation without a rule was admitted")
		}
	}()
	_ = w.May(user, "fly")
}

// TestOnlyTheHubDoesItsOwnWork keeps callers from the operations of the hub itself, whoever they say they are.
func TestOnlyTheHubDoesItsOwnWork(t *testing.T) {
	w := newHub(t)
	for _, caller := range []hub.Caller{user, {Agent: parley.System, Token: "t-1", Scopes: parley.AllScopes()}, {Agent: parley.System, Scopes: parley.AllScopes()}} {
		if err := w.May(caller, "itself"); parley.CodeOf(err) != parley.NotPermitted {
			t.Errorf("%+v: %v", caller, err)
		}
	}
	if err := w.May(hub.Caller{Agent: parley.System}, "itself"); err != nil {
		t.Error(err)
	}
}

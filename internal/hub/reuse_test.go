package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func (w *fixture) addReusedAgent(by string, n parley.NewAgent) (parley.Agent, error) {
	n.Reuse = true
	return w.AddAgent(ctx, as(by), n)
}

// TestReuseGivesTheNameAndNothingElse is a table of what a removed agent had: whoever takes its names has none of it.
func TestReuseGivesTheNameAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddAgents("ned", "bran")
	old, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "arya", Name: "AryaBot"})
	w.NoError(err)
	secret := w.CreatePrivateChannel("arya", "closed", "ned").ID
	group := w.CreateGroup("arya", "club", "ned").ID
	dm := w.SendDM("ned", "arya", "the word is valar").Message
	answer := w.SendDM("arya", "ned", "morghulis, and valar").Message
	once := w.SendEphemeralDM("bran", "arya", "valar again").Message
	three := w.PostAs("ned", parley.Draft{Direct: []string{"arya", "bran"}, Content: text("valar, both")}).Message
	keyed := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, IdempotencyKey: "k", Content: text("keyed valar")}).Message
	token, err := w.NewToken(ctx, owner(), parley.NewToken{Agent: "arya"})
	w.NoError(err)
	before, err := w.IdentifyAt(ctx, token.Secret, hub.Connection{TCP: true})
	w.NoError(err)
	w.NoError(errorOf(w.Permit(ctx, user, parley.Permission{Agent: "arya", Target: "bran", Effect: parley.EffectDeny})))
	task, err := w.Contact(ctx, as("ned"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "arya", Message: "work"})
	w.NoError(err)
	w.awaitIndex() // the index has all of it under the name
	w.NoError(w.RemoveAgent(ctx, user, "arya"))

	next, err := w.addReusedAgent("user", parley.NewAgent{ID: "arya", Name: "AryaBot"})
	w.NoError(err)
	same(t, "named alike", []string{next.ID, next.Name}, []string{"arya", "AryaBot"})
	if next.UUID == old.UUID {
		t.Error("the uuid was taken too")
	}
	arya := as("arya")
	for what, ref := range map[string]string{
		"the DM": dm.Conversation, "the DM by its members": "@ned", "an ephemeral": once.Conversation, "a group": three.Conversation, "a named group": group,
		"a private channel": secret, "a private channel by name": "closed", "the DM, shown by its members": "arya ↔ ned",
	} {
		if _, err := w.Conversation(ctx, arya, ref); parley.AsError(err).Reason != parley.NotFound {
			t.Errorf("%s is open to the next holder of the name: %v", what, err)
		}
		if _, err := w.History(ctx, arya, ref, parley.Page{Limit: 9}); parley.AsError(err).Reason != parley.NotFound {
			t.Errorf("%s can be read by the next holder of the name: %v", what, err)
		}
	}
	for what, id := range map[string]string{"to it": dm.ID, "from it": answer.ID, "keyed": keyed.ID} {
		if _, err := w.Message(ctx, arya, id); parley.AsError(err).Reason != parley.NotFound {
			t.Errorf("a message %s can be read by the next holder of the name: %v", what, err)
		}
	}
	same(t, "its lists", w.ConversationIDs("arya", parley.ListFilter{Ephemeral: true}), []string(nil))
	same(t, "its inbox", len(found(w.Take(ctx, arya, parley.Take{Limit: 9})).Deliveries), 0)
	same(t, "search", w.searchSnippets("arya", "valar"), []string{})
	if _, err := w.IdentifyAt(ctx, token.Secret, hub.Connection{TCP: true}); parley.AsError(err).Reason != parley.Unauthenticated {
		t.Errorf("the old token is good: %v", err)
	}
	if _, _, err := w.Conversations(ctx, before, parley.ListFilter{}); parley.CodeOf(err) != parley.NotPermitted {
		t.Errorf("a call that began with the old token goes on as the next holder: %v", err)
	}
	same(t, "rules", len(found(w.Permissions(ctx, user, "arya"))), 0)
	same(t, "runs", len(found(w.Runs(ctx, user, parley.RunFilter{Agent: "arya"}))), 0)
	if _, err := w.Task(ctx, arya, task.Task); parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("the old task is the next holder's: %v", err)
	}

	fresh := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, IdempotencyKey: "k", Content: text("I am new")})
	same(t, "its key is its own", fresh.Duplicate, false)
	same(t, "its count begins", fresh.Deliveries[0].PairSeq, int64(1))
	if fresh.Message.Conversation == dm.Conversation {
		t.Error("it writes in the old DM")
	}

	shown, err := w.Message(ctx, as("ned"), answer.ID)
	w.NoError(err)
	same(t, "old messages are the removed one's", []any{shown.From, shown.Damage == nil}, []any{"arya~removed", true})
	same(t, "its DM", w.ConversationAs("ned", "@arya~removed").ID, dm.Conversation)
	same(t, "from the new one", w.searchSnippets("ned", "from:arya new"), []string{"I am new"})
	same(t, "from the old one", len(w.searchSnippets("ned", "from:arya~removed valar")), 2)
	same(t, "nothing else from the new one", w.searchSnippets("user", "from:arya"), []string{"I am new"})
	same(t, "to the old one", len(w.searchSnippets("user", "to:arya~removed valar")), 3)
	same(t, "to the new one", len(w.searchSnippets("user", "to:arya valar")), 0)
	w.assertRefusals(t, []refusal{{"a message to the removed one", func() error {
		return errorOf(w.Post(ctx, as("ned"), parley.Draft{Conversation: dm.Conversation, Content: text("hello?")}))
	}, refusalError(parley.Unavailable, parley.Gone, "AryaBot~removed was removed", "write to another participant")}})
	w.AssertConsistent()
}

func TestReuseIsForOwnersAndAudited(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.AddPerson("sam", parley.AccessMember)
	old := found(w.Agent(ctx, user, "arya"))
	taken := func(by string, n parley.NewAgent) func() error {
		return func() error { return errorOf(w.AddAgent(ctx, as(by), n)) }
	}
	alive := refusalError(parley.BadInput, parley.Conflict, `the name "arya" belongs to another agent`, "choose another id or name")
	w.assertRefusals(t, []refusal{
		{"of one that is there", taken("user", parley.NewAgent{ID: "arya", Reuse: true}), alive},
		{"its name", taken("user", parley.NewAgent{ID: "other", Name: "arya", Reuse: true}), alive},
	})
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.assertRefusals(t, []refusal{
		{"without reuse", taken("user", parley.NewAgent{ID: "arya"}), refusalError(parley.BadInput, parley.Conflict,
			`the name "arya" belongs to an agent that was removed`,
			"choose another id or name, or take it over for the new agent with --reuse")},
		{"by an agent", taken("ned", parley.NewAgent{ID: "arya", Reuse: true}), refusalError(parley.NotPermitted, "", "only an owner may add an agent", "ask an owner of this hub")},
		{"by a member", taken("sam", parley.NewAgent{ID: "arya", Reuse: true}), refusalError(parley.NotPermitted, "", "only an owner may add an agent", "ask an owner of this hub")},
	})
	first, err := w.addReusedAgent("user", parley.NewAgent{ID: "arya"})
	w.NoError(err)
	var detail struct{ Removed, Now, By string }
	entries := w.AuditEntriesWithRefusals()
	at := slices.IndexFunc(entries, func(e parley.AuditEntry) bool { return e.Act == "agent.reuse" })
	if at < 0 {
		t.Fatal("reuse is not audited")
	}
	w.NoError(json.Unmarshal(entries[at].Detail, &detail))
	same(t, "audited", []string{entries[at].Actor, entries[at].Subject, detail.Removed, detail.Now, detail.By},
		[]string{"user", "arya", old.UUID, "arya~removed", first.UUID})

	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	other, err := w.addReusedAgent("user", parley.NewAgent{ID: "stark", Name: "Arya"})
	w.NoError(err)
	same(t, "by its name alone", found(w.Agent(ctx, user, "arya")).ID, other.ID)
	w.NoError(w.RemoveAgent(ctx, user, "stark"))
	third, err := w.addReusedAgent("user", parley.NewAgent{ID: "arya", Name: "stark"})
	w.NoError(err)
	same(t, "again", found(w.Agent(ctx, user, "stark")).UUID, third.UUID)
	names := []string{}
	for _, line := range strings.Split(strings.TrimSpace(w.exportEverything()), "\n") {
		var l struct{ Agent *parley.Agent }
		w.NoError(json.Unmarshal([]byte(line), &l))
		if l.Agent != nil && l.Agent.RemovedAt != nil {
			names = append(names, l.Agent.ID)
		}
	}
	same(t, "those before", names, []string{"arya~removed", "arya~removed-2", "stark~removed"})
	w.AssertConsistent()
}

// What waits for a yes names the agent by its id: it must not become a call to somebody else.
func TestReuseWithdrawsCallsThatNameTheRemovedAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.NoError(errorOf(w.Permit(ctx, user, parley.Permission{Agent: "ned", Target: "arya", Effect: parley.EffectAllow, RequiresApproval: true})))
	_, err := w.Contact(ctx, as("ned"), parley.Contact{Pattern: parley.PatternNotify, Agent: "arya", Message: "for arya alone"})
	held, waits := errors.AsType[*parley.Held](err)
	if !waits {
		t.Fatal(err)
	}
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})))
	same(t, "its state", found(w.Approval(ctx, user, held.Approval.ID)).State, parley.ApprovalWithdrawn)
}

func TestReuseWaitsForASessionToEnd(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	leave := w.Attend("arya")
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	_, err := w.addReusedAgent("user", parley.NewAgent{ID: "arya"})
	same(t, "while it is connected", parley.CodeOf(err), parley.Unavailable)
	leave()
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})))
}

func TestReusedNamesSurviveExportAndImport(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateConversationAs("ned", parley.NewConversation{Name: "Project X"})
	m := w.SendDM("arya", "ned", "before").Message
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})))
	after := w.SendDM("arya", "ned", "after").Message
	exported := w.exportEverything()
	there := newHub(t)
	for range 2 { // the second time there is nothing to do
		_, err := there.Import(ctx, user, strings.NewReader(exported))
		there.NoError(err)
	}
	for id, from := range map[string]string{m.ID: "arya~removed", after.ID: "arya"} {
		shown, err := there.Message(ctx, user, id)
		there.NoError(err)
		same(t, "from", shown.From, from)
	}
	same(t, "their DMs", []string{there.ConversationAs("ned", "@arya").ID, there.ConversationAs("ned", "@arya~removed").ID}, []string{after.Conversation, m.Conversation})
	same(t, "the display name", there.ConversationAs("ned", "project x").DisplayName, "Project X")
	there.AssertConsistent()
}

// TestReuseSetsTheFilesOfTheRemovedAgentAside: what it remembers and the secrets of its runtime are not for the next holder.
func TestReuseSetsTheFilesOfTheRemovedAgentAside(t *testing.T) {
	t.Parallel()
	var aside []string
	var w *fixture
	w = newHub(t, func(of *fixture) {
		of.Config.SetFilesAside = func(id string) error {
			if holder, err := w.Agent(ctx, user, id); err == nil && holder.RemovedAt == nil {
				t.Errorf("%s was taken before its files were out of the way", id)
			}
			aside = append(aside, id)
			return nil
		}
		of.Config.CheckRuntime = func(context.Context, parley.Agent) error {
			aside = append(aside, "check") // makes what the runtime needs, like the secret of a webhook
			return nil
		}
	})
	w.AddAgents("arya", "ned", "bran")
	w.NoError(errorOf(w.ChangeAgent(ctx, user, "bran", func(a *parley.Agent) error { a.Name = "Crow"; return nil })))
	old := found(w.Agent(ctx, user, "arya"))
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.NoError(w.RemoveAgent(ctx, user, "bran"))
	for what, n := range map[string]parley.NewAgent{
		"its name is taken":          {ID: "arya", Name: "ned"},
		"its manager does not exist": {ID: "arya", Profile: parley.Profile{Manager: "nobody"}},
		"its id is a uuid":           {ID: old.UUID},
	} {
		if _, err := w.addReusedAgent("user", n); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := w.addReusedAgent("ned", parley.NewAgent{ID: "arya"}); parley.CodeOf(err) != parley.NotPermitted {
		t.Errorf("by an agent: %v", err)
	}
	same(t, "refused, so nothing moves", len(aside), 0)
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya", Name: "Crow", Profile: parley.Profile{Runtime: parley.RuntimeScript}})))
	same(t, "both holders, and then the runtime is made ready anew", aside, []string{"check", "arya", "bran", "check"})
}

// A held call names the agent in whatever way its caller has written it.
func TestReuseWithdrawsCallsHoweverTheyNameTheAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ned", "bran")
	w.NoError(errorOf(w.AddAgent(ctx, user, parley.NewAgent{ID: "arya", Name: "R&D<Ärya>"})))
	w.NoError(errorOf(w.ChangeAgent(ctx, user, "ned", func(a *parley.Agent) error { a.Mode = parley.ModeSupervised; return nil })))
	var held []string
	for _, name := range []string{"@arya", "ARYA", "R&D<Ärya>", "r&d<ärya>", "@R&D<ÄRYA>"} {
		_, err := w.Post(ctx, as("ned"), parley.Draft{Direct: []string{name, "bran"}, Content: text("to " + name)})
		call, waits := errors.AsType[*parley.Held](err)
		if !waits {
			t.Fatalf("%s: %v", name, err)
		}
		held = append(held, call.Approval.ID)
	}
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya", Name: "R&D<Ärya>"})))
	for _, id := range held {
		a := found(w.Approval(ctx, user, id))
		if a.State != parley.ApprovalWithdrawn {
			t.Errorf("%s: %s is %s", a.Call.Args, id, a.State)
		}
	}
}

// TestAnExportFromBeforeTheReuseGivesTheNewAgentNothing: in the export the id is that of the removed agent.
func TestAnExportFromBeforeTheReuseGivesTheNewAgentNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("ned", "arya", "for the first arya").Message
	before := w.exportEverything()
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})))
	w.NoError(w.DeleteConversation(ctx, user, m.Conversation))
	_, err := w.Import(ctx, user, strings.NewReader(before))
	same(t, "the import", []string{parley.AsError(err).Message, parley.AsError(err).Suggestion}, []string{
		"line 4: the agent arya of the export has the id arya~removed in this hub, and another agent has the id arya", "import the export into a new hub",
	})
	if _, err := w.Message(ctx, as("arya"), m.ID); err == nil || parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("the new agent reads what was for the removed one: %v", err)
	}
}

// A bridge hands requests for nobody to an agent that it names by its id.
func TestReuseIsRefusedWhileABridgeNamesTheAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	n := parley.NewBridge{ID: "board", Layout: parley.LayoutBlackboard, Root: "/srv/board", Agents: []string{"ned"}, QueueAgent: "arya"}
	w.NoError(errorOf(w.AddBridge(ctx, user, n)))
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.assertRefusals(t, []refusal{{
		"its queue", func() error { return errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})) },
		refusalError(parley.BadInput, parley.Conflict, "the bridge board still uses the id arya", "remove the bridge first: parley bridge remove board"),
	}})
	w.NoError(w.RemoveBridge(ctx, user, "board"))
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})))
}

// The signs of life of the removed agent are not those of the next.
func TestReuseBeginsWithoutSignsOfLife(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.Attend("arya")()
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.NoError(errorOf(w.addReusedAgent("user", parley.NewAgent{ID: "arya"})))
	same(t, "last seen", found(w.AgentView(ctx, user, "arya")).LastSeen, (*time.Time)(nil))
}

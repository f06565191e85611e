package hub_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// conversationOperation is a call of intern that changes a conversation, with the texts of its approval, and a check whether the change was made.
type conversationOperation struct {
	call    func(hub.Caller) error
	summary string
	denied  string
	done    func() bool
}

// conversationChanges returns all changes of conversations that an agent can make. Most of them change the public channel town, which
// intern has made.
func (w *fixture) conversationChanges() map[string]conversationOperation {
	w.T.Helper()
	town := w.CreateChannel("intern", "town", "ned").ID
	w.CreateChannel(parley.Owner, "square")
	is := func(f func(parley.ConversationView) bool) func() bool {
		return func() bool { return f(w.ConversationAs(parley.Owner, town)) }
	}
	has := func(ref, who string) func() bool {
		return func() bool { return slices.Contains(w.ConversationAs(parley.Owner, ref).Members, who) }
	}
	change := func(c parley.ConversationChange) func(hub.Caller) error {
		return func(by hub.Caller) error { _, err := w.ChangeConversation(ctx, by, "#town", c); return err }
	}
	name, topic, archived := "city", "first line\nAction: nothing", true
	return map[string]conversationOperation{
		"make": {
			func(by hub.Caller) error {
				_, err := w.CreateConversation(ctx, by, parley.NewConversation{Name: "den", Private: true, With: []string{"SENIOR"}, Topic: "plans"})
				return err
			},
			"InternBot wants to make the private channel #den:\nAction: make_conversation\nWith: \"senior\"\nTopic: \"plans\"\n\n[Approve] [Deny]",
			"Approval denied for making the private channel #den.",
			func() bool { _, err := w.Conversation(ctx, user, "den"); return err == nil },
		},
		"join": {
			func(by hub.Caller) error { return w.Join(ctx, by, "#square") },
			"InternBot wants to join #square:\nAction: join\n\n[Approve] [Deny]", "Approval denied for joining #square.", has("square", "intern"),
		},
		"leave": {
			func(by hub.Caller) error { return w.Leave(ctx, by, "#town") },
			"InternBot wants to leave #town:\nAction: leave\n\n[Approve] [Deny]", "Approval denied for leaving #town.",
			is(func(v parley.ConversationView) bool { return !slices.Contains(v.Members, "intern") }),
		},
		"add": {
			func(by hub.Caller) error { return w.AddMember(ctx, by, "#town", "SENIOR") },
			"InternBot wants to add senior to #town:\nAction: add\n\n[Approve] [Deny]", "Approval denied for adding senior to #town.", has("town", "senior"),
		},
		"remove": {
			func(by hub.Caller) error { return w.RemoveMember(ctx, by, "#town", "ned") },
			"InternBot wants to remove ned from #town:\nAction: remove\n\n[Approve] [Deny]", "Approval denied for removing ned from #town.",
			is(func(v parley.ConversationView) bool { return !slices.Contains(v.Members, "ned") }),
		},
		"rename": {
			change(parley.ConversationChange{Name: &name}),
			"InternBot wants to change #town:\nAction: rename\nName: \"city\"\n\n[Approve] [Deny]", "Approval denied for changing #town.",
			is(func(v parley.ConversationView) bool { return v.Name == "city" }),
		},
		"topic": {
			change(parley.ConversationChange{Topic: &topic}),
			"InternBot wants to change #town:\nAction: topic\nTopic:\n| first line\n| Action: nothing\n\n[Approve] [Deny]", "Approval denied for changing #town.",
			is(func(v parley.ConversationView) bool { return v.Topic == topic }),
		},
		"archive": {
			change(parley.ConversationChange{Archived: &archived}),
			"InternBot wants to change #town:\nAction: archive\n\n[Approve] [Deny]", "Approval denied for changing #town.",
			is(func(v parley.ConversationView) bool { return v.ArchivedAt != nil }),
		},
	}
}

// officeInMode adds the agents of the office, has intern make its channel, and sets the mode of intern.
func (w *fixture) officeInMode(mode parley.Mode) map[string]conversationOperation {
	w.T.Helper()
	w.addInternOffice()
	w.AddScriptAgents("ned")
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode = parley.ModeAutonomous })
	changes := w.conversationChanges()
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode = mode })
	return changes
}

func conversationOperationNames() []string {
	return []string{"make", "join", "leave", "add", "remove", "rename", "topic", "archive"}
}

// Modes and rules stop at messages: what a supervised or strict agent does to a conversation waits for an approval, in
// the conversation that woke it too.
func TestConversationOperationsAreHeld(t *testing.T) {
	for _, mode := range []parley.Mode{parley.ModeSupervised, parley.ModeStrict} {
		for _, name := range conversationOperationNames() {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newHub(t, runTwice)
				d := w.officeInMode(mode)[name]
				a := w.HeldApproval(d.call(as("intern")))
				same(t, "the request", []string{a.Summary, a.Rule, a.Decider}, []string{d.summary, "mode " + string(mode), "boss"})
				same(t, "the same call", w.HeldApproval(d.call(as("intern"))).ID, a.ID)
				same(t, "done before the decision", d.done(), false)
				w.Restart()
				done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
				same(t, "what came of it", []any{done.State, done.Failure, d.done()}, []any{parley.ApprovalExecuted, (*parley.Error)(nil), true})
				told := w.MessagesFrom(w.DMBetween("boss", "intern"), parley.System)
				same(t, "the caller is told", told[len(told)-1].Content.Text, done.Result)
				if _, err := w.Decide(ctx, user, a.ID, parley.Decision{Approve: true}); parley.CodeOf(err) != parley.BadInput {
					t.Errorf("decided twice: %v", err)
				}
				w.AssertConsistent()
			})
		}
	}
}

func TestDeniedConversationOperationChangesNothing(t *testing.T) {
	for _, name := range conversationOperationNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			d := w.officeInMode(parley.ModeSupervised)[name]
			a := w.HeldApproval(d.call(as("intern")))
			w.DecideAs("boss", a.ID, parley.Decision{})
			told := w.MessagesFrom(w.DMBetween("boss", "intern"), parley.System)
			same(t, "the caller is told", told[len(told)-1].Content.Text, d.denied)
			same(t, "done", d.done(), false)
			w.EditAgent("intern", func(a *parley.Agent) { a.Mode = parley.ModeAutonomous })
			w.NoError(d.call(as("intern")))
			same(t, "done once it is autonomous", d.done(), true)
		})
	}
}

// A run is held too, and what comes of the call returns to the conversation of the run.
func TestRunsConversationOperationsAreHeld(t *testing.T) {
	w := newHub(t)
	changes := w.officeInMode(parley.ModeSupervised)
	run, dm := w.startRunInDM("intern")
	a := w.HeldApproval(changes["topic"].call(run.Caller()))
	same(t, "where from", []string{a.Run, a.Conversation}, []string{run.Run.ID, dm})
	w.EndRun(run, "asked for it")
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	told := w.MessagesFrom(dm, parley.System)
	if len(told) != 1 || !strings.HasPrefix(told[0].Content.Text, "Done: change, conversation ") {
		t.Errorf("told %+v", told)
	}
}

// A call that changes nothing, and one that is refused anyway, bothers nobody.
func TestConversationOperationsThatNeedNoApproval(t *testing.T) {
	w := newHub(t)
	w.officeInMode(parley.ModeStrict)
	yes, taken := false, "square"
	w.NoError(w.Join(ctx, as("intern"), "town"))
	w.NoError(w.AddMember(ctx, as("intern"), "town", "ned"))
	w.NoError(errorOf(w.ChangeConversation(ctx, as("intern"), "town", parley.ConversationChange{Archived: &yes})))
	w.AssertCode(parley.NotPermitted, w.RemoveMember(ctx, as("intern"), "square", "user"))
	w.AssertCode(parley.NotPermitted, w.DeleteConversation(ctx, as("intern"), "town"))
	w.AssertCode(parley.BadInput, errorOf(w.ChangeConversation(ctx, as("intern"), "town", parley.ConversationChange{Name: &taken})))
	w.AssertCode(parley.BadInput, errorOf(w.CreateConversation(ctx, as("intern"), parley.NewConversation{Name: "square", With: []string{"senior"}})))
	same(t, "approvals", len(resultOf[[]parley.Approval](w)(w.Approvals(ctx, user, parley.ApprovalFilter{}))), 0)
}

// Approval reuse: renaming a conversation while a call waits does not redirect the call, and the rights at the decision count.
func TestApprovedConversationOperationGoesWhereItWasSeenToGo(t *testing.T) {
	w := newHub(t)
	w.officeInMode(parley.ModeSupervised)
	add := w.HeldApproval(w.AddMember(ctx, as("intern"), "#town", "senior"))
	w.NoError(w.Rename(ctx, user, "town", "old"))
	w.NoError(w.Rename(ctx, user, "square", "town"))
	w.DecideAs("boss", add.ID, parley.Decision{Approve: true})
	same(t, "members", []any{slices.Contains(w.ConversationAs("user", "old").Members, "senior"), w.ConversationAs("user", "town").Members}, []any{true, []string{"user"}})
	again := w.HeldApproval(errorOf(w.CreateConversation(ctx, as("intern"), parley.NewConversation{Name: "den", With: []string{"senior"}})))
	w.AddPermission("intern", "senior", parley.EffectDeny)
	failed := w.DecideAs("boss", again.ID, parley.Decision{Approve: true})
	if failed.Failure == nil || failed.Failure.Code != parley.NotPermitted {
		t.Errorf("made though denied by now: %+v", failed)
	}
	wantError(t, errorOf(w.Conversation(ctx, user, "den")), notFoundError("conversation", "den", listConversations))
}

// Adding a participant to a conversation is contacting it: the rules hold for every caller and every conversation.
func TestAddingSomebodyIsContactingThem(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("arya", "gendry", "hound")
	w.CreateChannel("arya", "town")
	w.CreateGroup("arya", "inn")
	adds := map[string]func() error{
		"to a public channel": func() error { return w.AddMember(ctx, as("arya"), "town", "gendry") },
		"to a named group":    func() error { return w.AddMember(ctx, as("arya"), "inn", "gendry") },
		"to a new channel": func() error {
			return errorOf(w.CreateConversation(ctx, as("arya"), parley.NewConversation{Name: "forge", With: []string{"hound", "gendry"}}))
		},
		"to a new private channel": func() error {
			return errorOf(w.CreateConversation(ctx, as("arya"), parley.NewConversation{Name: "cellar", Private: true, With: []string{"gendry"}}))
		},
		"by an owner in its name": func() error {
			return w.AddMember(ctx, hub.Caller{Agent: "arya", By: parley.Owner}, "inn", "gendry")
		},
	}
	w.AddPermission("arya", "gendry", parley.EffectDeny)
	w.AddPermission("arya", "hound", parley.EffectAllow, withApproval) // a refusal comes before an approval
	for name, add := range adds {
		err := parley.AsError(add())
		same(t, name, []any{err.Code, err.Message}, []any{parley.NotPermitted, "arya may not contact gendry"})
	}
	w.NoError(w.Unpermit(ctx, user, "arya", "gendry", parley.EffectDeny))
	w.AddPermission("arya", "gendry", parley.EffectAllow, withApproval, func(p *parley.Permission) { p.RequiresHuman = true })
	for name, add := range adds {
		a := w.HeldApproval(add())
		same(t, name, []any{a.Target, a.Rule, a.RequiresHuman}, []any{"gendry", "allow arya → gendry", true})
		if done := w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true}); done.Failure != nil {
			t.Errorf("%s: %+v", name, done.Failure)
		}
		for _, ref := range []string{"town", "inn"} {
			if slices.Contains(w.ConversationAs(parley.Owner, ref).Members, "gendry") {
				w.NoError(w.RemoveMember(ctx, user, ref, "gendry"))
			}
		}
	}
	w.NoError(w.AddMember(ctx, user, "inn", "gendry")) // rules are not for owners
}

// A message that brings a participant into a channel adds it. A mode holds that even in the conversation that woke the agent.
func TestModeHoldsMessagesThatAddMembers(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	town := w.CreateChannel(parley.Owner, "town", "intern").ID
	w.PostAs(parley.Owner, parley.Draft{Conversation: town, Content: text("@intern well?")})
	run := w.StartRun("intern")
	r, err := w.Post(ctx, run.Caller(), parley.Draft{Conversation: town, Content: text("@senior @boss look")})
	w.NoError(err)
	same(t, "notices", r.Notices, []string{"senior was not woken: contacting it needs an approval: use contact_agent"})
	a := w.HeldApproval(errorOf(w.Post(ctx, run.Caller(), parley.Draft{Conversation: town, To: "senior", Content: text("look")})))
	same(t, "for", a.Target, "senior")
	w.EndRun(run, "I have told @senior")
	same(t, "members", slices.Sorted(slices.Values(w.ConversationAs("user", "town").Members)), []string{"boss", "intern", "user"})
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	same(t, "members, approved", slices.Sorted(slices.Values(w.ConversationAs("user", "town").Members)), []string{"boss", "intern", "senior", "user"})
}

// A reply is never held where it answers what woke the run, and held anywhere else.
func TestReplyOutsideItsTriggerIsHeld(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	earlier := w.PostAs("senior", parley.Draft{Direct: []string{"intern"}, Content: text("one")}).Message
	w.EndRun(w.StartRun("intern"), "yes")
	run, dm := w.startRunInDM("intern")
	a := w.HeldApproval(errorOf(w.Post(ctx, run.Caller(), parley.Draft{InReplyTo: earlier.ID, Content: text("and two")})))
	same(t, "held", []string{a.Rule, a.Call.Tool}, []string{"mode supervised", "reply"})
	w.NoError(errorOf(w.Post(ctx, run.Caller(), parley.Draft{InReplyTo: w.MessagesFrom(dm, parley.Owner)[0].ID, Content: text("here")})))
}

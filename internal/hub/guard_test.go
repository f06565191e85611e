package hub_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// ways returns a draft for each way to write directly to gendry.
func ways(channel, group string) map[string]parley.Draft {
	return map[string]parley.Draft{
		"DM":             {Direct: []string{"gendry"}, Content: text("x")},
		"ephemeral":      {Direct: []string{"gendry"}, Ephemeral: true, Content: text("x")},
		"implicit group": {Direct: []string{"hound", "gendry"}, Content: text("x")},
		"to":             {Conversation: channel, To: "gendry", Content: text("x")},
		"to in a group":  {Conversation: group, To: "gendry", Content: text("x")},
		"notification":   {Direct: []string{"gendry"}, Type: parley.TypeNotification, Content: text("x")},
	}
}

// addTownAgents adds three agents that the hub runs, a channel and a named group of them.
func (w *fixture) addTownAgents() (channel, group string) {
	w.T.Helper()
	w.AddScriptAgents("arya", "gendry", "hound")
	return w.CreateChannel("arya", "town", "gendry", "hound").ID, w.CreateGroup("arya", "inn", "gendry", "hound").ID
}

// Injection between agents: rules hold for whatever is posted, not for one tool only.
func TestRulesHoldForEveryPost(t *testing.T) {
	w := newHub(t)
	channel, group := w.addTownAgents()
	w.AddPermission("arya", "gendry", parley.EffectDeny)
	for name, draft := range ways(channel, group) {
		_, err := w.Post(ctx, as("arya"), draft)
		if parley.CodeOf(err) != parley.NotPermitted {
			t.Errorf("%s, denied: %v", name, err)
		}
		_, err = w.Post(ctx, hub.Caller{Agent: "arya", By: parley.Owner}, draft) // an owner in its name is no more than it
		if parley.CodeOf(err) != parley.NotPermitted {
			t.Errorf("%s, denied, by an owner as arya: %v", name, err)
		}
	}
	w.AssertCode(parley.NotPermitted, w.TryContact(as("arya"), notifyContact("gendry", "x")))
	if w.NextRunOf("gendry") != nil {
		t.Error("gendry is woken")
	}
	w.NoError(w.Unpermit(ctx, user, "arya", "gendry", parley.EffectDeny))
	w.AddPermission("arya", "gendry", parley.EffectAllow, withApproval)
	for name, draft := range ways(channel, group) {
		_, err := w.Post(ctx, as("arya"), draft)
		a := w.HeldApproval(err)
		if a.Target != "gendry" || a.Rule != "allow arya → gendry" {
			t.Errorf("%s: held by %+v", name, a)
		}
		done := w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
		if done.State != parley.ApprovalExecuted || !strings.HasPrefix(done.Result, "Posted as message ") {
			t.Errorf("%s: %+v", name, done)
		}
	}
	w.PostAs(parley.Owner, parley.Draft{Direct: []string{"gendry"}}) // rules are not for owners
	w.AssertConsistent()
}

func TestMentionWithoutPermissionDoesNotWake(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("arya", "gendry", "hound")
	channel := w.CreateChannel("arya", "town", "gendry", "hound").ID
	w.AddScriptAgents("far")
	w.AddPermission("arya", "gendry", parley.EffectDeny)
	w.AddPermission("arya", "hound", parley.EffectAllow, withApproval)
	w.AddPermission("arya", "far", parley.EffectDeny)
	r := w.SayIn("arya", channel, "@gendry @hound @far look")
	if !slices.Equal(r.Message.Mentions, []string{"gendry", "hound", "far"}) || len(r.Notices) != 3 {
		t.Errorf("mentions %v, notices %q", r.Message.Mentions, r.Notices)
	}
	for _, notice := range r.Notices {
		if !strings.Contains(notice, "was not woken") || !strings.Contains(notice, "contact_agent") {
			t.Errorf("notice %q", notice)
		}
	}
	if slices.Contains(w.ConversationAs(parley.Owner, channel).Members, "far") {
		t.Error("somebody has joined by a mention of one who may not contact it")
	}
	r = w.SayIn("arya", channel, "@all look")
	if len(r.Notices) != 1 || !strings.HasSuffix(r.Notices[0], ": gendry, hound") {
		t.Errorf("notices %q", r.Notices)
	}
	for _, agent := range []string{"gendry", "hound", "far"} {
		if w.NextRunOf(agent) != nil {
			t.Errorf("%s is woken", agent)
		}
	}
	w.NoError(w.Unpermit(ctx, user, "arya", "gendry", ""))
	w.SayIn("arya", channel, "@all look")
	if w.NextRunOf("gendry") == nil || w.NextRunOf("hound") != nil {
		t.Error("@all wakes others than those arya may contact")
	}
}

func TestAnswersAreNeverRefused(t *testing.T) {
	w := newHub(t)
	channel, _ := w.addTownAgents()
	w.AddPermission("arya", "*", parley.EffectDeny)
	asked := w.SendDM("gendry", "arya", "well?").Message
	run := w.StartRun("arya")
	reply, err := w.Post(ctx, run.Caller(), parley.Draft{InReplyTo: asked.ID, Content: text("so")})
	w.NoError(err)
	if len(reply.Deliveries) != 1 || !reply.Deliveries[0].Waking {
		t.Errorf("the reply reaches %+v", reply.Deliveries)
	}
	w.EndRun(run, "well, and @hound knows")
	w.SayIn("gendry", channel, "@arya well?")
	run = w.StartRun("arya")
	w.EndRun(run, "@gendry yes, @hound knows")
	if w.NextRunOf("hound") != nil {
		t.Error("an answer wakes somebody else")
	}
	if w.NextRunOf("gendry") == nil {
		t.Error("an answer does not wake whom it answers and mentions")
	}
	// An answer is for whom it answers.
	m := w.SayIn("gendry", channel, "@arya again?").Message
	_, err = w.Post(ctx, as("arya"), parley.Draft{Conversation: channel, InReplyTo: m.ID, To: "hound", Content: text("psst")})
	w.AssertCode(parley.NotPermitted, err)
	// What was not delivered to it is nothing it was asked.
	other := w.SendDM("gendry", "hound", "well?").Message
	_, err = w.Post(ctx, as("arya"), parley.Draft{InReplyTo: other.ID, Content: text("psst")})
	w.AssertCode(parley.BadInput, err)
}

func TestTiersHoldForPosts(t *testing.T) {
	w := newHub(t)
	for id, tier := range map[string]parley.Tier{"carl": parley.TierCommand, "pam": parley.TierPM, "paul": parley.TierPM, "will": parley.TierWorker, "wanda": parley.TierWorker} {
		w.addNamedAgent(id, strings.ToUpper(id), func(p *parley.Profile) { p.Tier = tier })
	}
	hint := func(from, to string) string {
		_, err := w.Post(ctx, as(from), parley.Draft{Direct: []string{to}, Content: text("x")})
		if err == nil {
			return ""
		}
		w.AssertCode(parley.NotPermitted, err)
		return parley.AsError(err).Suggestion
	}
	for pair, want := range map[[2]string]string{
		{"carl", "pam"}: "", {"pam", "carl"}: "", {"pam", "will"}: "", {"will", "pam"}: "",
		{"pam", "paul"}: "go through command (CARL)",
	} {
		if got := hint(pair[0], pair[1]); got != want {
			t.Errorf("%v: %q, want %q", pair, got, want)
		}
	}
	for pair, want := range map[[2]string]string{
		{"will", "wanda"}: "go through your pm (", {"carl", "will"}: "go through a pm (", {"will", "carl"}: "go through your pm (",
	} {
		if got := hint(pair[0], pair[1]); !strings.HasPrefix(got, want) || !strings.Contains(got, "PAM") || !strings.Contains(got, "PAUL") {
			t.Errorf("%v: %q, want %q", pair, got, want)
		}
	}
	_, err := w.ChangeAgent(ctx, user, "will", func(a *parley.Agent) error { a.Manager = "paul"; return nil })
	w.NoError(err)
	if got := hint("will", "wanda"); got != "go through your pm (PAUL)" {
		t.Errorf("with a manager: %q", got)
	}
	w.AddPermission("will", "wanda", parley.EffectAllow)
	if got := hint("will", "wanda"); got != "" {
		t.Errorf("with a rule: %q", got)
	}
}

func TestSupervisedWritesAreHeld(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	channel := w.CreateChannel(parley.Owner, "town", "intern", "senior", "boss").ID
	run, dm := w.startRunInDM("intern")
	for name, draft := range map[string]parley.Draft{
		"channel": {Conversation: channel, Content: text("x")},
		"DM":      {Direct: []string{"senior"}, Content: text("x")},
		"to":      {Conversation: channel, To: "boss", Content: text("x")}, // others read it there
	} {
		_, err := w.Post(ctx, run.Caller(), draft)
		if a := w.HeldApproval(err); a.Rule != "mode supervised" || a.Conversation != dm || a.Run != run.Run.ID {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for name, draft := range map[string]parley.Draft{
		"its trigger": {Conversation: dm, Content: text("x")},
		"its manager": {Direct: []string{"boss"}, Content: text("x")},
	} {
		if _, err := w.Post(ctx, run.Caller(), draft); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.NoError(w.TryContact(run.Caller(), notifyContact("boss", "x")))
	w.EndRun(run, "done")
	if last := w.MessagesFrom(dm, "intern"); last[len(last)-1].Content.Text != "done" {
		t.Error("the answer of a run was held")
	}
	if _, err := w.Who(ctx, as("intern")); err != nil {
		t.Errorf("supervised, it may not read: %v", err)
	}
}

func TestAttachedAgentWritesWhereItWasWoken(t *testing.T) {
	w := newHub(t)
	_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "intern", Profile: parley.Profile{Runtime: parley.RuntimeAttached, Mode: parley.ModeStrict}})
	w.NoError(err)
	asked := w.SendDM(parley.Owner, "intern", "well?").Message
	say := parley.Draft{Conversation: asked.Conversation, Content: text("x")}
	_, err = w.Post(ctx, as("intern"), say)
	held := w.HeldApproval(err)
	_, err = w.History(ctx, as("intern"), asked.Conversation, parley.Page{})
	w.HeldApproval(err)
	resultOf[parley.Taken](w)(w.Take(ctx, as("intern"), parley.Take{}))
	resultOf[parley.Receipt](w)(w.Post(ctx, as("intern"), say))
	resultOf[[]parley.Message](w)(w.History(ctx, as("intern"), asked.Conversation, parley.Page{}))
	w.ReplyAs("intern", asked.ID, "so")
	if held.Conversation != "" {
		t.Errorf("outside of a run, it comes from %q", held.Conversation)
	}
}

func TestStrictReadsAreHeld(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("senior")
	w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Mode = parley.ModeStrict })
	channel := w.CreateChannel("senior", "town").ID
	said := w.SayIn("senior", channel, "secret plan").Message
	run, dm := w.startRunInDM("intern")
	me := run.Caller()
	calls := map[string]func() error{
		"history":       func() error { _, err := w.History(ctx, me, channel, parley.Page{}); return err },
		"context":       func() error { _, err := w.Context(ctx, me, channel); return err },
		"message":       func() error { _, err := w.Message(ctx, me, said.ID); return err },
		"thread":        func() error { _, err := w.Thread(ctx, me, said.ID); return err },
		"conversation":  func() error { _, err := w.Conversation(ctx, me, channel); return err },
		"conversations": func() error { _, _, err := w.Conversations(ctx, me, parley.ListFilter{}); return err },
		"who":           func() error { _, err := w.Who(ctx, me); return err },
		"agent":         func() error { _, err := w.AgentView(ctx, me, "senior"); return err },
		"search":        func() error { _, err := w.Search(ctx, me, parley.SearchRequest{Query: "plan"}); return err },
		"trace":         func() error { _, err := w.Trace(ctx, me, said.TraceID); return err },
	}
	for name, call := range calls {
		a := w.HeldApproval(call())
		if same := w.HeldApproval(call()); same.ID != a.ID {
			t.Errorf("%s: asked for twice", name)
		}
		done := w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
		if done.State != parley.ApprovalExecuted || done.Failure != nil || done.Result == "" {
			t.Errorf("%s: %+v", name, done)
		}
		w.HeldApproval(call()) // once
	}
	for name, call := range map[string]func() error{
		"trigger": func() error { _, err := w.History(ctx, me, dm, parley.Page{}); return err },
		"names":   func() error { _, err := w.Named(ctx, me, "senior", "nobody"); return err },
		"inbox":   func() error { _, err := w.Peek(ctx, me, 10); return err },
		"itself":  func() error { _, err := w.AgentView(ctx, me, "intern"); return err },
	} {
		if err := call(); err != nil {
			t.Errorf("%s is held: %v", name, err)
		}
	}
	if list, _, err := w.Messages(ctx, me, []string{said.ID}); err != nil || len(list) > 0 {
		t.Errorf("a stream shows %v, %v", list, err)
	}
	// Existence leaks: what it could not read with an approval either is not there.
	hidden := w.CreatePrivateChannel("senior", "vault").ID
	_, err := w.History(ctx, me, hidden, parley.Page{})
	if e := parley.AsError(err); e.Reason != parley.NotFound {
		t.Errorf("a hidden conversation: %v", err)
	}
}

func TestRulesAreKept(t *testing.T) {
	w := newHub(t)
	w.addTownAgents()
	w.AddPermission("arya", "*", parley.EffectDeny)
	w.AddPermission("ARYA", "Gendry", parley.EffectAllow)
	w.AddPermission("arya", "gendry", parley.EffectAllow, withApproval) // in its place
	w.AddPermission("hound", "gendry", parley.EffectAllow)
	w.Restart()
	shown := func(list []parley.Permission) (lines []string) {
		for _, p := range list {
			line := string(p.Effect) + " " + p.Agent + " → " + p.Target
			if p.RequiresApproval {
				line += " with approval"
			}
			lines = append(lines, line)
		}
		return lines
	}
	all := shown(resultOf[[]parley.Permission](w)(w.Permissions(ctx, user, "")))
	want := []string{"allow arya → gendry with approval", "deny arya → *", "allow hound → gendry"}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if own := shown(resultOf[[]parley.Permission](w)(w.Permissions(ctx, as("arya"), ""))); len(own) != 2 {
		t.Errorf("arya sees %v", own)
	}
	for name, err := range map[string]error{
		"another's rules": errorOf(w.Permissions(ctx, as("arya"), "hound")),
		"a rule":          errorOf(w.Permit(ctx, as("arya"), parley.Permission{Agent: "arya", Target: "*", Effect: parley.EffectAllow})),
		"no rule":         w.Unpermit(ctx, as("arya"), "arya", "*", ""),
		"another's check": errorOf(w.CheckPermission(ctx, as("arya"), "hound", "gendry")),
	} {
		if parley.CodeOf(err) != parley.NotPermitted {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := resultOf[parley.Verdict](w)(w.CheckPermission(ctx, user, "arya", "hound"))
	if v.Allowed || v.Rule != "deny arya → *" || len(v.Checks) != 5 {
		t.Errorf("verdict %+v", v)
	}
	w.NoError(w.Unpermit(ctx, user, "arya", "*", ""))
	if v := resultOf[parley.Verdict](w)(w.CheckPermission(ctx, as("arya"), "arya", "hound")); !v.Allowed || v.Rule != "nothing forbids it" {
		t.Errorf("verdict %+v", v)
	}
	w.AssertCode(parley.BadInput, w.Unpermit(ctx, user, "arya", "*", ""))
	_, err := w.Permit(ctx, user, parley.Permission{Agent: "arya", Target: "arya", Effect: parley.EffectDeny})
	w.AssertCode(parley.BadInput, err)
}

package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// Names that people type are accepted: the display name is kept, the name is derived.
func TestAConversationKeepsTheNameThatPeopleType(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddAgents("arya", "ned")
	made := w.CreateConversationAs("arya", parley.NewConversation{Name: "Project X", With: []string{"ned"}})
	same(t, "made", []string{made.Name, made.DisplayName, made.Title()}, []string{"project-x", "Project X", "#project-x"})
	for _, ref := range []string{"project-x", "#project-x", "Project X", "#Project X", "PROJECT x", "Ｐroject X", made.ID} {
		same(t, ref, w.ConversationAs("ned", ref).ID, made.ID)
	}
	same(t, "post", w.SayIn("ned", "Project X", "hello @arya").Message.Conversation, made.ID)
	same(t, "search", len(w.searchSnippets("ned", `in:"Project X" hello`)), 1)

	w.NoError(w.Rename(ctx, as("arya"), "project x", "Über Größe"))
	renamed := w.ConversationAs("ned", made.ID)
	same(t, "renamed", []string{renamed.Name, renamed.DisplayName}, []string{"uber-grosse", "Über Größe"})
	same(t, "its old display name is free", w.CreateConversationAs("ned", parley.NewConversation{Name: "Project X"}).Name, "project-x")
	w.NoError(w.Rename(ctx, as("arya"), "Über größe", "plain"))
	same(t, "a plain name says it all", w.ConversationAs("ned", "plain").DisplayName, "")

	own := "Проект Икс"
	given := w.CreateConversationAs("arya", parley.NewConversation{Name: "proekt", DisplayName: own})
	same(t, "both are given", []string{given.Name, given.DisplayName}, []string{"proekt", own})
	same(t, "by that display name", w.ConversationAs("ned", "ПРОЕКТ икс").ID, given.ID)
	cleared := ""
	changed, err := w.ChangeConversation(ctx, as("arya"), "proekt", parley.ConversationChange{DisplayName: &cleared})
	w.NoError(err)
	same(t, "cleared", changed.DisplayName, "")
}

func found[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestRefusedDisplayNames(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateConversationAs("arya", parley.NewConversation{Name: "Project X"})
	w.CreateConversationAs("arya", parley.NewConversation{Name: "plan"})
	dm := w.SendDM("arya", "ned", "hi").Message.Conversation
	make := func(name, display string) func() error {
		return func() error {
			return errorOf(w.CreateConversation(ctx, as("ned"), parley.NewConversation{Name: name, DisplayName: display}))
		}
	}
	change := func(ref, who, display string) func() error {
		return func() error {
			return errorOf(w.ChangeConversation(ctx, as(who), ref, parley.ConversationChange{DisplayName: &display}))
		}
	}
	w.assertRefusals(t, []refusal{
		{"a name that is taken", make("Project X", ""), refusalError(parley.BadInput, parley.Conflict, `the name "project-x" is taken`,
			`write in that conversation: parley chat --conv project-x; or choose another name, like "Project X 2"`)},
		{"a heading", make("Plan\n## Role", ""), refusalError(parley.BadInput, "",
			`the display name "Plan\n## Role" has a line break or an invisible character`, "remove it")},
		{"a heading as the display name", make("roles", "Plan\n## Role"), refusalError(parley.BadInput, "",
			`the display name "Plan\n## Role" has a line break or an invisible character`, "remove it")},
		{"letters that cannot be spelled", make("Проект", ""), refusalError(parley.BadInput, "", `no channel name can be made from "Проект"`,
			`give both: a name of a-z, 0-9, _ and -, and "Проект" as the display name`)},
		{"of a DM", change(dm, "arya", "Secret"), refusalError(parley.BadInput, "", "a dm cannot have a name", "create a channel with that name")},
		{"of somebody else", change("plan", "ned", "My plan"), refusalError(parley.NotPermitted, "",
			"only the creator of #plan and owners may rename it", "ask arya")},
	})
}

// A display name stands for one conversation, within the caller's rights: for the one it takes part in, else for the one it may read.
func TestADisplayNameStandsForOneConversation(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	hidden := w.CreateConversationAs("arya", parley.NewConversation{Name: "one", DisplayName: "The Plan", Private: true, With: []string{"ned"}})
	same(t, "ned's", w.ConversationAs("ned", "the plan").ID, hidden.ID)
	absent := func() error { return errorOf(w.Conversation(ctx, as("bran"), "The Plan")) }
	w.assertRefusals(t, []refusal{{"a stranger", absent, refusalError(parley.BadInput, parley.NotFound,
		`there is no conversation "The Plan"`, "list conversations: parley conv list")}})
	w.CreateConversationAs("bran", parley.NewConversation{Name: "two", DisplayName: "THE PLAN"})
	same(t, "ned's stays", w.ConversationAs("ned", "the plan").ID, hidden.ID)
	same(t, "bran's", w.ConversationAs("bran", "the plan").Name, "two")
	w.CreateConversationAs("ned", parley.NewConversation{Name: "three", DisplayName: "the plan"})
	ambiguous := func() error { return errorOf(w.Conversation(ctx, as("ned"), "The Plan")) }
	w.assertRefusals(t, []refusal{{"two of ned's", ambiguous, refusalError(parley.BadInput, parley.Conflict,
		`2 conversations that you see are called "The Plan"`, "use a name: #one, #three")}})
	// A name comes before a display name, and a name that the caller does not see is none.
	w.CreateConversationAs("bran", parley.NewConversation{Name: "four", DisplayName: "one"})
	same(t, "the name", w.ConversationAs("ned", "one").ID, hidden.ID)
	same(t, "hidden by nothing", w.ConversationAs("bran", "one").Name, "four")
}

// Every form in which lists show a conversation names it, within the caller's rights.
func TestNamesInListsIdentifyAConversation(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddAgents("arya", "ned", "bran")
	dm := w.SendDM("arya", "ned", "hi").Message.Conversation
	group := w.PostAs("arya", parley.Draft{Direct: []string{"ned", "bran"}, Content: text("all")}).Message.Conversation
	single := w.SendEphemeralDM("arya", "bran", "a question").Message.Conversation
	for _, one := range []struct{ who, ref, want string }{
		{"arya", "@ned", dm},
		{"ned", "@ARYA", dm},
		{"arya", "dm " + dm, dm},
		{"arya", "arya ↔ ned", dm},
		{"ned", "ned ↔ arya", dm},
		{"arya", "@ned,bran", group},
		{"arya", "@bran, @ned", group},
		{"bran", "arya ↔ ned ↔ bran", group},
		{"arya", "group " + group, group},
		{"arya", "arya ↔ bran", single},
		{"bran", "ephemeral " + single, single},
		{"user", "arya ↔ ned", dm},
		{"user", "@arya,ned", dm},
	} {
		same(t, one.who+" "+one.ref, w.ConversationAs(one.who, one.ref).ID, one.want)
	}
	same(t, "post", w.SayIn("ned", "@arya", "here").Message.Conversation, dm)
	same(t, "search", len(w.searchSnippets("ned", "in:@arya here")), 1)
	again := w.SendEphemeralDM("arya", "bran", "another").Message.Conversation
	see := func(who, ref string) func() error {
		return func() error { return errorOf(w.Conversation(ctx, as(who), ref)) }
	}
	w.assertRefusals(t, []refusal{
		{"several", see("arya", "arya ↔ bran"), refusalError(parley.BadInput, parley.Conflict,
			"2 conversations have the members arya, bran", fmt.Sprintf("use an id: %s (ephemeral), %s (ephemeral)", again, single))},
		{"not begun", see("arya", "@bran"), refusalError(parley.BadInput, parley.NotFound, `there is no conversation "@bran"`,
			"start it: parley chat bran")},
		{"misspelt", see("arya", "@brann"), refusalError(parley.BadInput, parley.NotFound, `there is no conversation "@brann"`, "did you mean @bran?")},
		{"of others", see("bran", "arya ↔ ned"), refusalError(parley.BadInput, parley.NotFound, `there is no conversation "arya ↔ ned"`,
			"list conversations: parley conv list")},
		{"of others, by an id", see("bran", "dm "+dm), refusalError(parley.BadInput, parley.NotFound, `there is no conversation "dm `+dm+`"`,
			"list conversations: parley conv list")},
	})
}

// @arya names an agent wherever one is named.
func TestAnAgentIsNamedWithAnAt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddAgents("arya", "ned")
	same(t, "show", found(w.Agent(ctx, user, "@Arya")).ID, "arya")
	same(t, "direct", len(w.PostAs("ned", parley.Draft{Direct: []string{"@arya"}, Content: text("hi")}).Deliveries), 1)
	w.CreateChannel("ned", "open", "@arya")
	same(t, "to", w.PostAs("ned", parley.Draft{Conversation: "open", To: "@arya", Content: text("hi")}).Message.To, "arya")
	same(t, "to all", w.PostAs("ned", parley.Draft{Conversation: "open", To: "@all", Content: text("hi")}).Message.To, parley.All)
	same(t, "search", len(w.searchSnippets("user", "from:@ned hi")), 3)
	contacted, err := w.Contact(ctx, as("ned"), parley.Contact{Pattern: parley.PatternNotify, Agent: "@arya", Message: "news"})
	w.NoError(err)
	if strings.Contains(contacted.Text, "@@") {
		t.Errorf("said %q", contacted.Text)
	}
	w.NoError(errorOf(w.Runs(ctx, user, parley.RunFilter{Agent: "@arya"})))
	w.NoError(w.RemoveMember(ctx, as("ned"), "open", "@arya"))
}

// Conversations that the caller does not see neither hide its own of the same display name nor make it ambiguous.
func TestHiddenConversationsDoNotCrowdOutADisplayName(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned", "bran")
	make := func(who, name string) parley.Conversation {
		return resultOf[parley.ConversationView](w)(w.CreateConversation(ctx, as(who), parley.NewConversation{Name: name, DisplayName: "Project X", Private: true})).Conversation
	}
	for i := range 20 {
		make("arya", fmt.Sprintf("hidden-%d", i))
	}
	mine := make("ned", "mine")
	same(t, "his own", w.ConversationAs("ned", "project x").ID, mine.ID)
	same(t, "his post", w.SayIn("ned", "Project X", "hello").Message.Conversation, mine.ID)
	open := resultOf[parley.ConversationView](w)(w.CreateConversation(ctx, as("ned"), parley.NewConversation{Name: "open", DisplayName: "Project X"}))
	same(t, "a public channel, for whoever takes part in none", w.ConversationAs("bran", "project x").ID, open.ID)
	_, err := w.Conversation(ctx, as("arya"), "Project X")
	if said := parley.AsError(err); !strings.HasPrefix(said.Message, "more than 8 conversations that you see are called") || strings.Count(said.Suggestion, "#") != 8 {
		t.Errorf("got %v", err)
	}
}

// A post takes the longest display name, and the longest list of members, that lists show.
func TestAPostTakesNamesOfMaximalLength(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	display := strings.Repeat("計", 120)
	made := resultOf[parley.ConversationView](w)(w.CreateConversation(ctx, user, parley.NewConversation{Name: "plans", DisplayName: display}))
	same(t, "by its display name", w.SayIn("user", display, "hello").Message.Conversation, made.ID)
	var others []string
	for i := range 8 {
		others = append(others, fmt.Sprintf("%s%d", strings.Repeat("a", 60), i))
	}
	w.AddAgents(others...)
	group := w.PostAs("user", parley.Draft{Direct: others, Content: text("hello")}).Message.Conversation
	same(t, "by its members", w.SayIn("user", "@"+strings.Join(others, ","), "hello").Message.Conversation, group)
}

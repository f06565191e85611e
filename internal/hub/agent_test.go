package hub_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func ids(list []parley.Agent) []string {
	all := []string{}
	for _, a := range list {
		all = append(all, a.ID)
	}
	return all
}

func TestEveryHubHasItsOwnerAndItself(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	same(t, "participants", ids(resultOf[[]parley.Agent](w)(w.Agents(ctx, user))), []string{parley.System, parley.Owner})
	owner := resultOf[parley.Agent](w)(w.Agent(ctx, user, parley.Owner))
	same(t, "owner's kind and access", []any{owner.Kind, owner.Access}, []any{parley.KindHuman, parley.AccessOwner})
	system := resultOf[parley.Agent](w)(w.Agent(ctx, user, parley.System))
	same(t, "system's kind", system.Kind, parley.KindSystem)

	before := w.storeSnapshot()
	w.Restart()
	same(t, "state after a restart", w.storeSnapshot(), before)
}

func TestAddAgentFillsDefaultsAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	before := w.LastEventNumber()
	got := resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "arya"}))
	want := parley.Agent{
		ID: "arya", UUID: got.UUID, Name: "arya", Kind: parley.KindAgent,
		CreatedAt: began, UpdatedAt: began, Profile: parley.DefaultProfile(),
	}
	same(t, "added", got, want)
	if !parley.IsUUID(got.UUID) {
		t.Errorf("uuid is %q", got.UUID)
	}
	same(t, "stored", resultOf[parley.Agent](w)(w.Agent(ctx, user, "arya")), want)
	events := eventsAfter(w, before)
	same(t, "event", events, []parley.Event{{Num: before + 1, At: began, Kind: parley.EventAgentAdded, Agent: "arya", By: "user"}})
	last := w.AuditEntries()[0]
	same(t, "audit", []string{last.Actor, last.Act, last.Subject}, []string{"user", "agent.add", "arya"})
}

// eventsAfter reads events from the log in the store, not from a stream.
func eventsAfter(w *fixture, after int64) (list []parley.Event) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Log().Events(after, 10_000)
		return err
	}))
	return list
}

func kindsAfter(w *fixture, after int64) []parley.EventKind {
	w.T.Helper()
	kinds := []parley.EventKind{}
	for _, e := range eventsAfter(w, after) {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestPeopleAreMembersUnlessSaidOtherwise(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	sansa := resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "sansa", Kind: parley.KindHuman}))
	same(t, "access", sansa.Access, parley.AccessMember)
	w.AddPerson("jon", parley.AccessOwner)
	_, err := w.AddAgent(ctx, as("jon"), parley.NewAgent{ID: "ghost"})
	w.NoError(err)
	w.assertRefusals(t, []refusal{{"a member is no owner", func() error {
		_, err := w.AddAgent(ctx, as("sansa"), parley.NewAgent{ID: "lady"})
		return err
	}, onlyOwner("add an agent")}})
}

func onlyOwner(act string) *parley.Error {
	return refusalError(parley.NotPermitted, "", "only an owner may "+act, "ask an owner of this hub")
}

func TestAgentIsFoundByEveryNameInAnyCase(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	added := resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "writer", Name: "WriterBot-É"}))
	for _, name := range []string{
		"writer", "WRITER", added.UUID, strings.ToUpper(added.UUID), "WriterBot-É", "writerbot-é", "WriterBot-E\u0301", "ｗｒｉｔｅｒ",
	} {
		found, err := w.Agent(ctx, as(name), name)
		if err != nil || found.ID != "writer" {
			t.Errorf("%q finds %q, %v", name, found.ID, err)
		}
	}
}

func TestAddAgentRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	add := func(n parley.NewAgent) func() error {
		return func() error {
			_, err := w.AddAgent(ctx, user, n)
			return err
		}
	}
	bad := func(sentence, hint string) *parley.Error { return refusalError(parley.BadInput, "", sentence, hint) }
	const form = "an id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit"
	table := []refusal{
		{"an agent adding", func() error {
			_, err := w.AddAgent(ctx, as("arya"), parley.NewAgent{ID: "x"})
			return err
		}, onlyOwner("add an agent")},
		{"capital letters", add(parley.NewAgent{ID: "Arya"}), bad(`"Arya" is not an agent id`, form)},
		{"no id", add(parley.NewAgent{}), bad(`"" is not an agent id`, form)},
		{
			"a name with a space", add(parley.NewAgent{ID: "x", Name: "Writer Bot"}),
			bad(`the display name "Writer Bot" contains a space or control character`, "write it as one word, like WriterBot"),
		},
		{"a reserved name", add(parley.NewAgent{ID: "x", Name: "ALL"}), bad(`the name "all" is reserved`, "choose another name")},
		{"the system's kind", add(parley.NewAgent{ID: "x", Kind: parley.KindSystem}), bad(`unknown kind "system"`, "use agent or human")},
		{
			"an agent with access", add(parley.NewAgent{ID: "x", Access: parley.AccessOwner}),
			bad("only people have a level of access", "leave it out, or use the kind human"),
		},
		{
			"a person with an unknown access", add(parley.NewAgent{ID: "x", Kind: parley.KindHuman, Access: "king"}),
			bad(`unknown access "king"`, "use owner or member"),
		},
		{
			"an unknown mode", add(parley.NewAgent{ID: "x", Profile: parley.Profile{Mode: "wild"}}),
			bad(`unknown mode "wild"`, "use autonomous, supervised or strict"),
		},
		{
			"a manager nobody is", add(parley.NewAgent{ID: "x", Profile: parley.Profile{Manager: "aria"}}),
			notFoundError("agent", "aria", "did you mean arya?"),
		},
		{"itself as manager", add(parley.NewAgent{ID: "x", Profile: parley.Profile{Manager: "x"}}), notFoundError("agent", "x", listAgents)},
		{
			"the system as manager", add(parley.NewAgent{ID: "x", Profile: parley.Profile{Manager: "parley"}}),
			bad("parley cannot be a manager", "name an agent or a person"),
		},
	}
	for _, id := range []string{"all", "broadcast", "parley", "system", "inbox", "tasks", "shared", "processed"} {
		table = append(table, refusal{
			"the reserved id " + id, add(parley.NewAgent{ID: id}),
			bad(`the name "`+id+`" is reserved`, "choose another name"),
		})
	}
	w.assertRefusals(t, table)
}

// nameBelongs returns the error for a name that an agent or a removed agent has.
func nameBelongs(name string, removed bool, hint string) *parley.Error {
	to := "another agent"
	if removed {
		to = "an agent that was removed"
	}
	return refusalError(parley.BadInput, parley.Conflict, `the name "`+name+`" belongs to `+to, hint)
}

func TestNamesAreUniqueAmongAllNamesAfterFolding(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	writer := resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "writer", Name: "Straße"}))
	gone := resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "gone", Name: "Ghost"}))
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	w.AddAgents("other")
	taken := []struct{ why, name string }{
		{"an id", "writer"},
		{"an id in capitals", "WRITER"},
		{"an id in full width", "ｗriter"},
		{"a name", "Straße"},
		{"a name folded", "STRASSE"},
		{"a uuid", writer.UUID},
		{"a uuid in capitals", strings.ToUpper(writer.UUID)},
		{"a removed id", "gone"},
		{"a removed name", "ghost"},
		{"a removed uuid", gone.UUID},
		{"the owner's name", "User"},
	}
	belongs := func(name string) *parley.Error {
		hint := "choose another id or name"
		if name == "gone" || name == "ghost" {
			hint += ", or take it over for the new agent with --reuse"
		}
		return nameBelongs(name, name == gone.UUID || strings.HasSuffix(hint, "--reuse"), hint)
	}
	var table []refusal
	for _, c := range taken {
		held := belongs(c.name)
		held.Suggestion = "choose another name"
		table = append(table, refusal{"adding with the name that is " + c.why, func() error {
			_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "new", Name: c.name})
			return err
		}, belongs(c.name)}, refusal{"renaming to " + c.why, func() error {
			_, err := w.ChangeAgent(ctx, user, "other", func(a *parley.Agent) error {
				a.Name = c.name
				return nil
			})
			return err
		}, held})
	}
	for _, id := range []string{"writer", "strasse", writer.UUID, "gone", "ghost", gone.UUID, "user"} {
		table = append(table, refusal{"adding with the id " + id, func() error {
			_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: id, Name: "Fresh"})
			return err
		}, belongs(id)})
	}
	w.assertRefusals(t, table)
}

func TestChangeAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	before := resultOf[parley.Agent](w)(w.Agent(ctx, user, "arya"))
	w.Clock.Advance(1)
	after := resultOf[parley.Agent](w)(w.ChangeAgent(ctx, user, "ARYA", func(a *parley.Agent) error {
		a.Name, a.Manager, a.Role, a.ContextMessages = "NoOne", "NED", "scout", 3
		a.ID, a.UUID, a.Kind = "sansa", "x", parley.KindHuman // not its to change
		return nil
	}))
	want := before
	want.Name, want.Manager, want.Role, want.ContextMessages = "NoOne", "ned", "scout", 3
	same(t, "changed", after, want)
	same(t, "stored", resultOf[parley.Agent](w)(w.Agent(ctx, user, "noone")), want)
	same(t, "last event", kindsAfter(w, w.LastEventNumber()-1), []parley.EventKind{parley.EventAgentChanged})

	// The old display name is free again, the id never is.
	_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "bran", Name: "NoOneElse"})
	w.NoError(err)
	_, err = w.ChangeAgent(ctx, user, "bran", func(a *parley.Agent) error { a.Name = "Raven"; return nil })
	w.NoError(err)
	_, err = w.AddAgent(ctx, user, parley.NewAgent{ID: "x", Name: "NoOneElse"})
	w.NoError(err)
}

func TestChangeAgentRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "robert")
	manage := func(who, boss string) func() error {
		return func() error {
			_, err := w.ChangeAgent(ctx, user, who, func(a *parley.Agent) error { a.Manager = boss; return nil })
			return err
		}
	}
	w.NoError(manage("arya", "ned")())
	w.NoError(manage("ned", "robert")())
	change := func(by, who string, f func(*parley.Agent)) func() error {
		return func() error {
			_, err := w.ChangeAgent(ctx, as(by), who, func(a *parley.Agent) error { f(a); return nil })
			return err
		}
	}
	nothing := func(*parley.Agent) {}
	const other = "choose a manager that does not report to "
	w.assertRefusals(t, []refusal{
		{"an agent changing itself", change("arya", "arya", nothing), onlyOwner("change an agent")},
		{"nobody", change("user", "ary", nothing), notFoundError("agent", "ary", "did you mean arya?")},
		{"the system", change("user", "parley", nothing), refusalError(parley.NotPermitted, "", "parley is the hub itself and cannot be changed", "name an agent or a person")},
		{
			"taking the hub from its owner", change("user", "user", func(a *parley.Agent) { a.Access = parley.AccessMember }),
			refusalError(parley.NotPermitted, "", "user set up this hub and stays its owner", "you can make other people owners too"),
		},
		{
			"an agent becoming an owner", change("user", "arya", func(a *parley.Agent) { a.Access = parley.AccessOwner }),
			refusalError(parley.BadInput, "", "only people have a level of access", "leave it out, or use the kind human"),
		},
		{
			"an empty name", change("user", "arya", func(a *parley.Agent) { a.Name = "" }),
			refusalError(parley.BadInput, "", `"" is not a display name`, "a display name has 1 to 64 characters"),
		},
		{
			"a bad profile", change("user", "arya", func(a *parley.Agent) { a.Attempts = 0 }),
			refusalError(parley.BadInput, "", "attempts is 0", "use a number from 1 to 100"),
		},
		{"itself as manager", manage("arya", "arya"), refusalError(parley.BadInput, "",
			"arya cannot be managed by arya: the chain of managers leads back to arya", other+"arya")},
		{"its report as manager", manage("robert", "arya"), refusalError(parley.BadInput, "",
			"robert cannot be managed by arya: the chain of managers leads back to robert", other+"robert")},
		{"the system as manager", manage("arya", "parley"), refusalError(parley.BadInput, "", "parley cannot be a manager", "name an agent or a person")},
		{"a change that gives up", func() error {
			_, err := w.ChangeAgent(ctx, user, "arya", func(*parley.Agent) error { return errors.New("no") })
			return err
		}, refusalError(parley.Internal, "", "no", "")},
	})
}

func TestRemovedAgentLeavesAndItsNamesStay(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	_, err := w.ChangeAgent(ctx, user, "bran", func(a *parley.Agent) error { a.Manager = "arya"; return nil })
	w.NoError(err)
	open := w.CreateChannel("ned", "open", "arya")
	old := w.CreateChannel("ned", "old", "arya")
	w.NoError(w.Archive(ctx, as("ned"), "old", true))
	club := w.CreateGroup("ned", "club", "arya")
	pair := w.SendDM("ned", "arya", "hi").Message.Conversation
	before := w.LastEventNumber()
	w.NoError(w.RemoveAgent(ctx, user, "ARYA"))

	same(t, "listed", ids(resultOf[[]parley.Agent](w)(w.Agents(ctx, user))), []string{parley.System, parley.Owner, "ned", "bran"})
	for _, c := range []string{open.ID, old.ID, club.ID} {
		same(t, "members", w.ConversationAs("ned", c).Members, []string{"ned"})
	}
	same(t, "members of the DM, which are fixed", w.ConversationAs("ned", pair).Members, []string{"arya", "ned"})
	same(t, "the report's manager", resultOf[parley.Agent](w)(w.Agent(ctx, user, "bran")).Manager, "")
	same(t, "events", kindsAfter(w, before), []parley.EventKind{
		parley.EventMemberLeft, parley.EventMemberLeft, parley.EventMemberLeft, parley.EventAgentChanged, parley.EventAgentRemoved,
		"delivery.failed", parley.EventMessagePosted, // what was on its way to it, and the sender is told
	})
	w.assertRefusals(t, []refusal{
		{"showing it", func() error { _, err := w.Agent(ctx, user, "arya"); return err }, removed("arya")},
		{"removing it again", func() error { return w.RemoveAgent(ctx, user, "arya") }, removed("arya")},
		{"adding it to a channel", func() error { return w.AddMember(ctx, as("ned"), "open", "arya") }, removed("arya")},
		{"making a channel with it", func() error {
			_, err := w.CreateConversation(ctx, as("ned"), parley.NewConversation{Name: "new", With: []string{"arya"}})
			return err
		}, removed("arya")},
		{"making it a manager", func() error {
			_, err := w.ChangeAgent(ctx, user, "bran", func(a *parley.Agent) error { a.Manager = "arya"; return nil })
			return err
		}, removed("arya")},
	})
}

func removed(name string) *parley.Error {
	return refusalError(parley.Unavailable, parley.Gone, name+" was removed", "write to another participant")
}

func TestRemoveAgentRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	remove := func(by, who string) func() error { return func() error { return w.RemoveAgent(ctx, as(by), who) } }
	w.assertRefusals(t, []refusal{
		{"by an agent", remove("arya", "ned"), onlyOwner("remove an agent")},
		{"by itself", remove("arya", "arya"), onlyOwner("remove an agent")},
		{"the owner", remove("user", "user"), refusalError(parley.NotPermitted, "", "user cannot be removed", "every hub needs this participant")},
		{"the system", remove("user", "parley"), refusalError(parley.NotPermitted, "", "parley cannot be removed", "every hub needs this participant")},
		{"nobody", remove("user", "neds"), notFoundError("agent", "neds", "did you mean ned?")},
		{"nobody near", remove("user", "daenerys"), notFoundError("agent", "daenerys", listAgents)},
	})
}

func TestAuditNamesActorActAndSubjectOfEachAdministrativeAct(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPerson("jon", parley.AccessOwner)
	w.AddAgents("arya")
	_, err := w.ChangeAgent(ctx, as("jon"), "arya", func(a *parley.Agent) error { a.Role = "scout"; return nil })
	w.NoError(err)
	w.NoError(w.RemoveAgent(ctx, as("jon"), "arya"))
	var got [][]string
	hash := ""
	for _, e := range w.AuditEntries() {
		got = append(got, []string{e.Actor, e.Act, e.Subject})
		same(t, "hash of entry "+e.Subject, e.Hash, e.Chain(hash))
		hash = e.Hash
		if e.Detail != nil && !json.Valid(e.Detail) {
			t.Errorf("detail is %s", e.Detail)
		}
	}
	same(t, "audit", got, [][]string{
		{"user", "agent.add", "jon"},
		{"user", "agent.add", "arya"},
		{"jon", "agent.change", "arya"},
		{"jon", "agent.remove", "arya"},
	})
}

func TestOnlyOwnersSeeHowAnAgentIsRun(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	_, err := w.ChangeAgent(ctx, user, "arya", func(a *parley.Agent) error {
		a.Guardrails, a.RuntimeConfig = "no one", json.RawMessage(`{"command":["needle"]}`)
		return nil
	})
	w.NoError(err)
	for caller, want := range map[string][]string{
		"user": {"no one", `{"command":["needle"]}`},
		"arya": {"no one", ""},
		"ned":  {"", ""},
	} {
		one, err := w.Agent(ctx, as(caller), "arya")
		w.NoError(err)
		same(t, caller+" showing", []string{one.Guardrails, string(one.RuntimeConfig)}, want)
		all, err := w.Agents(ctx, as(caller))
		w.NoError(err)
		for _, a := range all {
			if a.ID == "arya" {
				same(t, caller+" listing", []string{a.Guardrails, string(a.RuntimeConfig)}, want)
			}
		}
	}
}

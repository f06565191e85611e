package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestCreateConversationKnowsThreeForms(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for _, c := range []struct {
		make       parley.NewConversation
		kind       parley.ConversationKind
		visibility parley.Visibility
	}{
		{parley.NewConversation{Name: "open", Topic: "winter"}, parley.Channel, parley.Public},
		{parley.NewConversation{Name: "closed", Private: true}, parley.Channel, parley.Private},
		{parley.NewConversation{Name: "club", Group: true}, parley.Group, parley.Private},
	} {
		before := w.LastEventNumber()
		c.make.With = []string{"NED", "ned", "arya"}
		got := w.CreateConversationAs("arya", c.make)
		want := parley.ConversationView{Conversation: parley.Conversation{
			ID: got.ID, Name: c.make.Name, Kind: c.kind, Visibility: c.visibility, Topic: c.make.Topic,
			CreatedBy: "arya", CreatedAt: began, UpdatedAt: began,
		}, Members: []string{"arya", "ned"}, Joined: true}
		same(t, c.make.Name, got, want)
		same(t, "events", kindsAfter(w, before), []parley.EventKind{
			parley.EventConversationCreated, parley.EventMemberJoined, parley.EventMemberJoined,
		})
		for _, ref := range []string{got.ID, strings.ToUpper(got.ID), c.make.Name, "#" + c.make.Name} {
			same(t, "found as "+ref, w.ConversationAs("ned", ref).ID, got.ID)
		}
	}
}

func nameTaken(name string) *parley.Error {
	return refusalError(parley.BadInput, parley.Conflict, `the name "`+name+`" is taken`, "choose another name")
}

// takenHere returns the error for making a conversation with a name that is taken.
func takenHere(name, other string) *parley.Error {
	return refusalError(parley.BadInput, parley.Conflict, `the name "`+name+`" is taken`,
		"write in that conversation: parley chat --conv "+name+"; or choose another name, like "+other)
}

func TestCreateConversationRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.CreateChannel("arya", "open")
	w.CreatePrivateChannel("user", "closed")
	w.CreateChannel("arya", "old")
	w.NoError(w.Archive(ctx, as("arya"), "old", true))
	create := func(n parley.NewConversation) func() error {
		return func() error {
			_, err := w.CreateConversation(ctx, as("arya"), n)
			return err
		}
	}
	const form = "a channel name is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit"
	w.assertRefusals(t, []refusal{
		{"a taken name with capitals", create(parley.NewConversation{Name: "Open"}), takenHere("open", `"Open 2"`)},
		{"no name", create(parley.NewConversation{Group: true}), refusalError(parley.BadInput, "", "the name is empty", `give a name, like project-x or "Project X"`)},
		{
			"a name of 65 letters", create(parley.NewConversation{Name: strings.Repeat("x", 65)}),
			refusalError(parley.BadInput, "", `"`+strings.Repeat("x", 65)+`" is not a channel name`, form),
		},
		{"a taken name", create(parley.NewConversation{Name: "open"}), takenHere("open", "open-2")},
		{"an archived name", create(parley.NewConversation{Name: "old"}), takenHere("old", "old-2")},
		{"a member nobody is", create(parley.NewConversation{Name: "x", With: []string{"aria"}}), notFoundError("agent", "aria", "did you mean arya?")},
		{
			"the system as member", create(parley.NewConversation{Name: "x", With: []string{"parley"}}),
			refusalError(parley.BadInput, "", "parley is in every conversation already", "name an agent or a person"),
		},
		{"a topic over 4 KiB", create(parley.NewConversation{Name: "x", Topic: strings.Repeat("x", 4097)}), refusalError(parley.BadInput,
			parley.TooLarge, "topic has 4097 bytes, the limit is 4096", "shorten it, or send an artifact")},
	})
	w.CreateConversationAs("arya", parley.NewConversation{Name: strings.Repeat("x", 64), Topic: strings.Repeat("x", 4096)})
}

func TestListsFollowTheirFilter(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	mine, others := w.CreateChannel("arya", "mine").ID, w.CreateChannel("ned", "others").ID
	hidden := w.CreatePrivateChannel("ned", "hidden").ID
	pair, foreign := w.SendDM("arya", "ned", "1").Message.Conversation, w.SendDM("ned", "bran", "2").Message.Conversation
	quick := w.SendEphemeralDM("ned", "arya", "3").Message.Conversation
	old := w.CreateChannel("arya", "old").ID
	w.NoError(w.Archive(ctx, as("arya"), old, true))
	for _, c := range []struct {
		name, who string
		filter    parley.ListFilter
		want      []string
	}{
		{"mine", "arya", parley.ListFilter{}, []string{pair, mine}},
		{"all", "arya", parley.ListFilter{All: true}, []string{pair, mine, others}},
		{"archived", "arya", parley.ListFilter{Archived: true}, []string{old}},
		{"archived of others", "bran", parley.ListFilter{Archived: true}, nil},
		{"all archived, public ones included", "bran", parley.ListFilter{Archived: true, All: true}, []string{old}},
		{"ephemeral only when asked for", "arya", parley.ListFilter{Ephemeral: true}, []string{quick, pair, mine}},
		{"all is not everything", "bran", parley.ListFilter{All: true, Ephemeral: true}, []string{foreign, mine, others}},
		{"the owner's own", "user", parley.ListFilter{Ephemeral: true}, nil},
		{"the owner sees all", "user", parley.ListFilter{All: true, Ephemeral: true}, []string{quick, foreign, pair, mine, others, hidden}},
	} {
		got := w.ConversationIDs(c.who, c.filter)
		slices.Sort(got)
		slices.Sort(c.want)
		same(t, c.name, got, c.want)
	}
}

func TestListIsPagedByTheNewestMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	var want []string
	for i := range 7 {
		id := w.CreateChannel("arya", fmt.Sprint("c", i)).ID
		if i >= 3 { // the others have no message, and need another order among them
			w.SayIn("arya", id, "hello")
			want = append([]string{id}, want...)
		}
	}
	w.SayIn("arya", want[3], "newest")
	want = append([]string{want[3]}, want[:3]...)

	var got []string
	sizes := []int{}
	filter := parley.ListFilter{Limit: 3}
	for {
		views, next, err := w.Conversations(ctx, as("arya"), filter)
		w.NoError(err)
		sizes = append(sizes, len(views))
		for _, v := range views {
			got = append(got, v.ID)
		}
		if filter.Cursor = next; next == nil {
			break
		}
	}
	same(t, "pages", sizes, []int{3, 3, 1})
	same(t, "newest first", got[:4], want)
	slices.Sort(got)
	same(t, "each once", len(slices.Compact(got)), 7)
	views, next, err := w.Conversations(ctx, as("arya"), parley.ListFilter{Limit: 7})
	w.NoError(err)
	same(t, "a page that ends the list", []any{len(views), next}, []any{7, (*parley.ListCursor)(nil)})
}

// makeConversations makes one conversation of every form between arya and ned. It returns their ids by form.
func makeConversations(w *fixture) map[string]string {
	w.AddAgents("arya", "ned", "bran")
	return map[string]string{
		"public channel":  w.CreateChannel("arya", "open", "ned").ID,
		"private channel": w.CreatePrivateChannel("arya", "closed", "ned").ID,
		"named group":     w.CreateGroup("arya", "club", "ned").ID,
		"dm":              w.SendDM("arya", "ned", "hi").Message.Conversation,
		"ephemeral":       w.SendEphemeralDM("arya", "ned", "hi").Message.Conversation,
		"group":           w.PostAs("arya", parley.Draft{Direct: []string{"ned", "user"}}).Message.Conversation,
	}
}

func membersFixed(kind string) *parley.Error {
	return refusalError(parley.BadInput, "", "the members of a "+kind+" are fixed", "use a channel")
}

func TestMembersOfDirectConversationsAreFixed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	w.AddPerson("jon", parley.AccessOwner)
	var table []refusal
	for _, kind := range []string{"dm", "ephemeral", "group"} {
		id := at[kind]
		for name, call := range map[string]func() error{
			"leaving":              func() error { return w.Leave(ctx, as("ned"), id) },
			"adding":               func() error { return w.AddMember(ctx, as("arya"), id, "bran") },
			"removing":             func() error { return w.RemoveMember(ctx, as("arya"), id, "ned") },
			"removing oneself":     func() error { return w.RemoveMember(ctx, as("ned"), id, "ned") },
			"an owner joining":     func() error { return w.Join(ctx, as("jon"), id) },
			"an owner adding":      func() error { return w.AddMember(ctx, as("jon"), id, "bran") },
			"an owner removing":    func() error { return w.RemoveMember(ctx, as("jon"), id, "ned") },
			"the hub adding":       func() error { return w.AddMember(ctx, as(parley.System), id, "bran") },
			"adding who is in it":  func() error { return w.AddMember(ctx, as("arya"), id, "ned") },
			"adding an absent one": func() error { return w.AddMember(ctx, as("arya"), id, "nobody") },
		} {
			table = append(table, refusal{kind + ": " + name, call, membersFixed(kind)})
		}
	}
	w.assertRefusals(t, table)
	for _, kind := range []string{"dm", "ephemeral", "group"} {
		w.NoError(w.Join(ctx, as("ned"), at[kind])) // who is in it has nothing to change
	}
}

func TestJoinAndLeave(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	open := at["public channel"]
	before := w.LastEventNumber()
	w.NoError(w.Join(ctx, as("bran"), "#open"))
	w.NoError(w.Join(ctx, as("bran"), "open"))
	same(t, "joining twice is joining once", kindsAfter(w, before), []parley.EventKind{parley.EventMemberJoined})
	same(t, "members", w.ConversationAs("bran", open).Members, []string{"arya", "ned", "bran"})
	w.NoError(w.Leave(ctx, as("bran"), "open"))
	view := w.ConversationAs("bran", open)
	same(t, "left", []any{view.Members, view.Joined}, []any{[]string{"arya", "ned"}, false})
	same(t, "events", kindsAfter(w, before), []parley.EventKind{parley.EventMemberJoined, parley.EventMemberLeft})

	for _, kind := range []string{"private channel", "named group"} {
		w.NoError(w.Join(ctx, user, at[kind])) // an owner may
		w.NoError(w.Leave(ctx, as("ned"), at[kind]))
	}
	w.assertRefusals(t, []refusal{
		{"joining a private channel", func() error { return w.Join(ctx, as("bran"), "closed") }, notFoundError("conversation", "closed", listConversations)},
		{"joining a named group", func() error { return w.Join(ctx, as("bran"), "#club") }, notFoundError("conversation", "#club", listConversations)},
		{"coming back to one left", func() error { return w.Join(ctx, as("ned"), "closed") }, notFoundError("conversation", "closed", listConversations)},
		{"joining what is not there", func() error { return w.Join(ctx, as("bran"), "opn") }, notFoundError("conversation", "opn", "did you mean open?")},
		{
			"leaving without being in it", func() error { return w.Leave(ctx, as("bran"), "open") },
			refusalError(parley.BadInput, "", "bran does not take part in #open", "list its members with parley conv show"),
		},
		{"leaving the unseen", func() error { return w.Leave(ctx, as("bran"), "closed") }, notFoundError("conversation", "closed", listConversations)},
	})
}

func TestAddAndRemoveMembers(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	w.AddAgents("robb")
	w.NoError(w.AddMember(ctx, as("bran"), at["public channel"], "ROBB")) // anybody, in a public one
	before := w.LastEventNumber()
	w.NoError(w.AddMember(ctx, as("bran"), at["public channel"], "robb"))
	same(t, "adding twice is adding once", kindsAfter(w, before), []parley.EventKind{})
	for _, kind := range []string{"private channel", "named group"} {
		w.NoError(w.AddMember(ctx, as("ned"), at[kind], "robb")) // any member
		same(t, kind, w.ConversationAs("robb", at[kind]).Members, []string{"arya", "ned", "robb"})
		w.NoError(w.RemoveMember(ctx, as("arya"), at[kind], "Robb")) // its creator
		w.NoError(w.AddMember(ctx, user, at[kind], "bran"))          // an owner
		w.NoError(w.RemoveMember(ctx, user, at[kind], "bran"))
		w.NoError(w.RemoveMember(ctx, as("ned"), at[kind], "ned")) // oneself
		same(t, kind, w.ConversationAs("arya", at[kind]).Members, []string{"arya"})
	}
	only := func(title string) *parley.Error {
		return refusalError(parley.NotPermitted, "", "only the creator of "+title+" and owners may remove members", "ask arya")
	}
	add := func(by, ref, who string) func() error {
		return func() error { return w.AddMember(ctx, as(by), ref, who) }
	}
	remove := func(by, ref, who string) func() error {
		return func() error { return w.RemoveMember(ctx, as(by), ref, who) }
	}
	w.assertRefusals(t, []refusal{
		{"adding the system", add("ned", "open", "parley"), refusalError(parley.BadInput, "", "parley is in every conversation already", "name an agent or a person")},
		{"adding nobody", add("ned", "open", "rob"), notFoundError("agent", "rob", "did you mean robb?")},
		{"adding to the unseen", add("ned", "closed", "robb"), notFoundError("conversation", "closed", listConversations)},
		{"a member removing another", remove("ned", "open", "robb"), only("#open")},
		{"an outsider removing", remove("bran", "open", "robb"), only("#open")},
		{"removing who is not in it", remove("arya", "open", "bran"), refusalError(parley.BadInput, "", "bran does not take part in #open", "list its members with parley conv show")},
		{"removing oneself where one is not", remove("bran", "open", "bran"), refusalError(parley.BadInput, "", "bran does not take part in #open", "list its members with parley conv show")},
		{"removing nobody", remove("arya", "open", "nobody"), notFoundError("agent", "nobody", listAgents)},
		{"removing from the unseen", remove("bran", "closed", "arya"), notFoundError("conversation", "closed", listConversations)},
	})
	w.NoError(w.Leave(ctx, as("arya"), "open"))
	w.assertRefusals(t, []refusal{{"a creator who has left", remove("arya", "open", "robb"), only("#open")}})
}

func TestRenameFreesTheOldName(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	before := w.LastEventNumber()
	w.NoError(w.Rename(ctx, as("arya"), "open", "wide-open"))
	changed := eventsAfter(w, before)
	same(t, "event", changed, []parley.Event{{
		Num: before + 1, At: began, Kind: parley.EventConversationChanged, Conversation: at["public channel"], By: "arya",
		Data: []byte(`{"field":"name"}`),
	}})
	same(t, "found by the new name", w.ConversationAs("bran", "#wide-open").ID, at["public channel"])
	w.CreateChannel("bran", "open")
	w.NoError(w.Rename(ctx, user, "club", "pub"))
	w.NoError(w.Rename(ctx, as("arya"), "pub", "pub"))

	rename := func(by, ref, name string) func() error {
		return func() error { return w.Rename(ctx, as(by), ref, name) }
	}
	noName := func(kind string) *parley.Error {
		return refusalError(parley.BadInput, "", "a "+kind+" cannot have a name", "create a channel with that name")
	}
	w.assertRefusals(t, []refusal{
		{"by a member", rename("ned", "wide-open", "x"), refusalError(parley.NotPermitted, "",
			"only the creator of #wide-open and owners may rename it", "ask arya")},
		{"to a taken name", rename("arya", "wide-open", "open"), nameTaken("open")},
		{"to a bad name", rename("arya", "wide-open", "-x"), refusalError(parley.BadInput, "", `"-x" is not a channel name`,
			"a channel name is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")},
		{"a dm", rename("arya", at["dm"], "x"), noName("dm")},
		{"an ephemeral", rename("arya", at["ephemeral"], "x"), noName("ephemeral")},
		{"an implicit group", rename("arya", at["group"], "x"), noName("group")},
		{"the unseen", rename("bran", "closed", "x"), notFoundError("conversation", "closed", listConversations)},
		{"by its old name", rename("arya", "pubs", "x"), notFoundError("conversation", "pubs", "did you mean pub?")},
	})
}

func TestTopicAndArchiveAreTheMembers(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	for kind, id := range at {
		w.NoError(w.SetTopic(ctx, as("ned"), id, "winter"))
		same(t, kind+" has a topic", w.ConversationAs("arya", id).Topic, "winter")
		w.Clock.Advance(time.Second)
		w.NoError(w.Archive(ctx, as("ned"), id, true))
		before := w.LastEventNumber()
		w.NoError(w.Archive(ctx, as("ned"), id, true))
		same(t, kind+" archived twice", kindsAfter(w, before), []parley.EventKind{})
		when := w.ConversationAs("arya", id).ArchivedAt
		if when == nil || !when.Equal(w.Clock.Now()) {
			t.Errorf("%s was archived at %v", kind, when)
		}
		same(t, kind+" is not listed", slices.Contains(w.ConversationIDs("arya", parley.ListFilter{Ephemeral: true}), id), false)
		same(t, kind+" is among the archived", slices.Contains(w.ConversationIDs("arya", parley.ListFilter{Ephemeral: true, Archived: true}), id), true)
		w.NoError(w.Archive(ctx, as("arya"), id, false))
		same(t, kind+" is back", w.ConversationAs("arya", id).ArchivedAt, (*time.Time)(nil))
		w.NoError(w.Archive(ctx, user, id, true)) // an owner may
		w.SayIn("arya", id, "news")
		same(t, kind+" is back by a message", w.ConversationAs("arya", id).ArchivedAt, (*time.Time)(nil))
	}
	join := refusalError(parley.NotPermitted, "", "bran does not take part in #open", "join it first")
	w.assertRefusals(t, []refusal{
		{"an outsider's topic", func() error { return w.SetTopic(ctx, as("bran"), "open", "x") }, join},
		{"an outsider archiving", func() error { return w.Archive(ctx, as("bran"), "open", true) }, join},
		{"an outsider unarchiving", func() error { return w.Archive(ctx, as("bran"), "open", false) }, join},
		{"a topic of the unseen", func() error { return w.SetTopic(ctx, as("bran"), "closed", "x") }, notFoundError("conversation", "closed", listConversations)},
		{"archiving the unseen", func() error { return w.Archive(ctx, as("bran"), at["dm"], true) }, notFoundError("conversation", at["dm"], listConversations)},
		{"a topic over 4 KiB", func() error { return w.SetTopic(ctx, as("ned"), "open", strings.Repeat("x", 4097)) }, refusalError(parley.BadInput,
			parley.TooLarge, "topic has 4097 bytes, the limit is 4096", "shorten it, or send an artifact")},
	})
}

func TestDeletedConversationIsGoneForEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	only := onlyOwner("delete a conversation")
	w.assertRefusals(t, []refusal{
		{"by its creator", func() error { return w.DeleteConversation(ctx, as("arya"), "open") }, only},
		{"by an outsider", func() error { return w.DeleteConversation(ctx, as("bran"), "open") }, only},
		{"the unseen", func() error { return w.DeleteConversation(ctx, as("bran"), "closed") }, only},
	})
	open := at["public channel"]
	said := w.SayIn("arya", open, "secret").Message.ID
	w.ReplyAs("ned", said, "answer")
	before := w.LastEventNumber()
	w.NoError(w.DeleteConversation(ctx, user, "#open"))
	told := eventsAfter(w, before)
	same(t, "last event", told[len(told)-1], parley.Event{
		Num: w.LastEventNumber(), At: began, Kind: parley.EventConversationDeleted, Conversation: open, By: "user",
	})
	for i, who := range []string{"arya", "ned"} {
		same(t, "a member is told", told[i], parley.Event{
			Num: before + 1 + int64(i), At: began, Kind: parley.EventMemberLeft, Conversation: open, Agent: who, By: "user",
		})
	}
	entries := w.AuditEntries()
	last := entries[len(entries)-1]
	same(t, "audit", []string{last.Actor, last.Act, last.Subject, string(last.Detail)},
		[]string{"user", "conversation.delete", open, `{"kind":"channel","messages":2,"title":"#open"}`})
	gone := []refusal{}
	for _, who := range []string{"arya", "ned", "bran", "user", parley.System} {
		same(t, who+"'s list", slices.Contains(w.ConversationIDs(who, parley.ListFilter{All: true}), open), false)
		for _, v := range verbs(ctx, w.Hub, as(who), open, said) {
			switch {
			case v.name == "DeleteConversation" && who != "user" && who != parley.System:
				gone = append(gone, refusal{who + " calling " + v.name, v.call, only})
			case v.about == "conversation":
				gone = append(gone, refusal{who + " calling " + v.name, v.call, notFoundError("conversation", open, listConversations)})
			case v.about == "message":
				gone = append(gone, refusal{who + " calling " + v.name, v.call, notFoundError("message", said, checkName)})
			}
		}
	}
	w.assertRefusals(t, gone)
	again := w.CreateChannel("bran", "open")
	same(t, "the name is free, its history is new", []any{again.ID != open, w.TextsIn("bran", "open")}, []any{true, []string{}})
	w.NoError(w.Sweep(ctx))
	same(t, "the new one stays", w.ConversationAs("bran", "open").ID, again.ID)
}

func TestDeletedPairStartsAnew(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	w.NoError(w.DeleteConversation(ctx, user, at["dm"]))
	w.NoError(w.DeleteConversation(ctx, user, at["group"]))
	pair := w.SendDM("ned", "arya", "anew").Message.Conversation
	set := w.PostAs("ned", parley.Draft{Direct: []string{"arya", "user"}, Content: text("anew")}).Message.Conversation
	same(t, "other conversations", []bool{pair == at["dm"], set == at["group"]}, []bool{false, false})
	same(t, "their histories", [][]string{w.TextsIn("arya", pair), w.TextsIn("arya", set)}, [][]string{{"anew"}, {"anew"}})
}

func TestForeignConversationsLookMissing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	w.AddPerson("sansa", parley.AccessMember)
	var table []refusal
	for _, who := range []string{"bran", "sansa"} { // a person who is only a member has an agent's rights
		for _, kind := range []string{"private channel", "named group", "dm", "ephemeral", "group"} {
			id := at[kind]
			said := w.PostAs("arya", parley.Draft{Conversation: id}).Message.ID
			for _, v := range verbs(ctx, w.Hub, as(who), id, said) {
				want := map[string]*parley.Error{
					"conversation": notFoundError("conversation", id, listConversations), "message": notFoundError("message", said, checkName),
				}[v.about]
				if v.name == "DeleteConversation" { // for owners, whatever is there
					want = onlyOwner("delete a conversation")
				}
				if want != nil {
					table = append(table, refusal{who + " in a " + kind + ": " + v.name, v.call, want})
				}
			}
		}
	}
	w.assertRefusals(t, table)
}

func TestOwnersReadEverything(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	w.AddPerson("jon", parley.AccessOwner)
	for kind, id := range at {
		w.SayIn("arya", id, "between us")
		words := w.TextsIn("jon", id)
		same(t, kind, words[len(words)-1], "between us")
		same(t, kind+" joined", w.ConversationAs("jon", id).Joined, false)
	}
}

// TestAChangeIsMadeWholeOrNotAtAll changes several things of a conversation, one of which is refused.
func TestAChangeIsMadeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.CreateChannel("arya", "forge", "gendry")
	w.CreateChannel("arya", "taken")
	name, taken, topic, archived := "smithy", "taken", "steel", true
	_, err := w.ChangeConversation(ctx, as("gendry"), "forge", parley.ConversationChange{Topic: &topic, Name: &name})
	same(t, "only its creator renames it", parley.CodeOf(err), parley.NotPermitted)
	_, err = w.ChangeConversation(ctx, as("arya"), "forge", parley.ConversationChange{Topic: &topic, Archived: &archived, Name: &taken})
	same(t, "the name is taken", parley.AsError(err).Reason, parley.Conflict)
	before := w.LastEventNumber()
	view, err := w.Conversation(ctx, as("arya"), "forge")
	w.NoError(err)
	same(t, "topic", view.Topic, "")
	same(t, "archived", view.ArchivedAt == nil, true)
	changed, err := w.ChangeConversation(ctx, as("arya"), "forge", parley.ConversationChange{Topic: &topic, Archived: &archived, Name: &name})
	w.NoError(err)
	view, err = w.Conversation(ctx, as("arya"), "smithy")
	w.NoError(err)
	same(t, "what is returned is what is there", changed, view)
	same(t, "topic", view.Topic, topic)
	same(t, "archived", view.ArchivedAt != nil, true)
	same(t, "an event for each", w.LastEventNumber(), before+3)
}

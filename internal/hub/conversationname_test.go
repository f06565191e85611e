package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// Existence leaks: for a stranger, the name of a private conversation answers like a name that nobody has.
func TestPrivateNamesDoNotLeak(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateConversationAs("arya", parley.NewConversation{Name: "hidden", Private: true, With: []string{"ned"}})
	w.CreateGroup("arya", "secret", "ned")
	make := func(n parley.NewConversation) func(string) error {
		return func(name string) error {
			n.Name = name
			view, err := w.CreateConversation(ctx, as("bran"), n)
			if err == nil {
				same(t, "its members", view.Members, []string{"bran"})
				err = w.DeleteConversation(ctx, user, view.ID)
			}
			return err
		}
	}
	for act, call := range map[string]func(name string) error{
		"a channel":         make(parley.NewConversation{}),
		"a private channel": make(parley.NewConversation{Private: true}),
		"a group":           make(parley.NewConversation{Group: true}),
		"renaming": func(name string) error {
			own := w.CreateChannel("bran", "mine").ID
			err := w.Rename(ctx, as("bran"), own, name)
			w.NoError(w.DeleteConversation(ctx, user, own))
			return err
		},
		"making it by a post": func(name string) error {
			r, err := w.Post(ctx, as("bran"), parley.Draft{Conversation: "#" + name, Make: true, Content: text("x")})
			if err == nil {
				same(t, "notices", len(r.Notices), 1) // that it is new
				err = w.DeleteConversation(ctx, user, r.Message.Conversation)
			}
			return err
		},
		"joining": func(name string) error { return w.Join(ctx, as("bran"), name) },
		"leaving": func(name string) error { return w.Leave(ctx, as("bran"), name) },
		"adding":  func(name string) error { return w.AddMember(ctx, as("bran"), name, "bran") },
		"posting": func(name string) error {
			return errorOf(w.Post(ctx, as("bran"), parley.Draft{Conversation: "#" + name, Content: text("x")}))
		},
		"showing": func(name string) error { return errorOf(w.Conversation(ctx, as("bran"), name)) },
		"searching": func(name string) error {
			return errorOf(w.Search(ctx, as("bran"), parley.SearchRequest{Query: "in:#" + name}))
		},
		"a topic": func(name string) error { return w.SetTopic(ctx, as("bran"), name, "x") },
		"a mention": func(name string) error {
			return errorOf(w.Post(ctx, as("bran"), parley.Draft{Direct: []string{"ned"}, Content: text("see #" + name)}))
		},
		"as a callback": func(name string) error {
			r, err := w.Post(ctx, as("bran"), parley.Draft{Direct: []string{"ned"}, Type: parley.TypeRequest, Payload: []byte(`{"callback":"` + name + `"}`), Content: text("x")})
			return fmt.Errorf("%s %w", strings.Join(r.Notices, ";"), err)
		},
	} {
		want := strings.ReplaceAll(fmt.Sprint(call("absent")), "absent", "NAME")
		for _, name := range []string{"hidden", "secret"} {
			if got := strings.ReplaceAll(fmt.Sprint(call(name)), name, "NAME"); got != want {
				t.Errorf("%s %s: %s\nwant, as for one that nobody has: %s", act, name, got, want)
			}
		}
	}
}

// A name stands for the conversation of that name one takes part in, whatever others make.
func TestANameKeepsItsMeaning(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	private := w.CreateConversationAs("arya", parley.NewConversation{Name: "plan", Private: true, With: []string{"ned"}}).ID
	public := w.CreateChannel("bran", "plan").ID
	same(t, "what it stands for", []string{w.ConversationAs("arya", "#plan").ID, w.ConversationAs("ned", "plan").ID, w.ConversationAs("bran", "plan").ID}, []string{private, private, public})
	same(t, "taken for who sees one", parley.CodeOf(errorOf(w.CreateConversation(ctx, as("bran"), parley.NewConversation{Name: "plan"}))), parley.BadInput)
	same(t, "taken for a member", parley.CodeOf(errorOf(w.CreateConversation(ctx, as("ned"), parley.NewConversation{Name: "plan"}))), parley.BadInput)
	w.AddAgents("hound")
	wantError(t, w.AddMember(ctx, as("arya"), private, "hound"), refusalError(parley.BadInput, parley.Conflict, "a public channel is called #plan too, so new members could confuse the two", "rename this conversation first"))
	several := parley.AsError(errorOf(w.Conversation(ctx, user, "plan")))
	same(t, "an owner, who sees both", several.Message, "2 conversations that you see are called #plan")
	for _, id := range []string{private, public} {
		if !strings.Contains(several.Suggestion, id) {
			t.Errorf("%q does not name %s", several.Suggestion, id)
		}
	}
	w.NoError(w.Join(ctx, as("ned"), public))
	same(t, "one who takes part in both", parley.CodeOf(errorOf(w.Conversation(ctx, as("ned"), "plan"))), parley.BadInput)
	w.NoError(w.Rename(ctx, as("arya"), private, "plans"))
	same(t, "renamed", []string{w.ConversationAs("ned", "plan").ID, w.ConversationAs("ned", "plans").ID}, []string{public, private})
	w.Restart()
	same(t, "members", slices.Contains(w.ConversationAs("ned", private).Members, "ned"), true)
}

// TestNobodyMakesTheChannelForBroadcasts has agents and the owner try to own the channel in which everybody is told
// something.
func TestNobodyMakesTheChannelForBroadcasts(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for _, who := range []string{"arya", parley.Owner} {
		for what, call := range map[string]func() error{
			"a channel": func() error {
				_, err := w.CreateConversation(ctx, as(who), parley.NewConversation{Name: "broadcast"})
				return err
			},
			"a private channel": func() error {
				_, err := w.CreateConversation(ctx, as(who), parley.NewConversation{Name: "broadcast", Private: true})
				return err
			},
			"a post": func() error {
				_, err := w.Post(ctx, as(who), parley.Draft{Conversation: "#broadcast", Make: true, Content: text("x")})
				return err
			},
			"a new name": func() error {
				own := w.CreateChannel(who, "mine").ID
				defer func() { w.NoError(w.DeleteConversation(ctx, user, own)) }()
				return w.Rename(ctx, as(who), own, "broadcast")
			},
		} {
			if err := call(); parley.CodeOf(err) != parley.BadInput {
				t.Errorf("%s by %s: %v", what, who, err)
			}
		}
	}
}

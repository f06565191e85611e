package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestPostMakesAChannelOrNothing: what is refused leaves no channel behind.
func TestPostMakesAChannelOrNothing(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	missing := func() {
		t.Helper()
		_, err := w.Conversation(ctx, user, "forge")
		same(t, "why", parley.AsError(err).Reason, parley.NotFound)
	}
	draft := parley.Draft{Conversation: "#forge", Make: true, To: "gendri", Content: text("hello")}
	_, err := w.Post(ctx, as("arya"), draft)
	w.AssertCode(parley.BadInput, err)
	missing()
	draft.To = "gendry"
	w.AddPermission("arya", "gendry", parley.EffectAllow, withApproval)
	held := w.HeldApproval(func() error { _, err := w.Post(ctx, as("arya"), draft); return err }())
	missing()
	w.DecideAs(parley.Owner, held.ID, parley.Decision{Approve: true})
	same(t, "what was approved", w.TextsIn("user", "forge"), []string{"hello"})
	w.SayIn("user", "forge", "there already")
	w.PostAs("gendry", parley.Draft{Conversation: "forge", Make: true})
	same(t, "in the one channel", len(w.TextsIn("user", "forge")), 3)
}

// TestPostMakesAChannelBesideAHiddenOne: to the sender the name is free, and what is hidden stays so.
func TestPostMakesAChannelBesideAHiddenOne(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreatePrivateChannel("ned", "shut")
	hidden := w.ConversationAs("ned", "shut").ID
	made := w.PostAs("arya", parley.Draft{Conversation: "#shut", Make: true, Content: text("hello")}).Message
	same(t, "another one", made.Conversation != hidden, true)
	same(t, "what ned means by it", w.ConversationAs("ned", "shut").ID, hidden)
	_, err := w.Post(ctx, as("arya"), parley.Draft{Conversation: "No Channel", Make: true, Content: text("hello")})
	w.AssertCode(parley.BadInput, err)
	_, err = w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Make: true, Content: text("hello")})
	w.AssertCode(parley.BadInput, err)
}

// TestPostSaysThatAChannelIsNew: a name that was mistyped is seen at once. Channels that are hidden from the sender are not named.
func TestPostSaysThatAChannelIsNew(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreatePrivateChannel("ned", "papers")
	post := func(channel string) []string {
		return w.PostAs("arya", parley.Draft{Conversation: "#" + channel, Make: true, Content: text("hello")}).Notices
	}
	same(t, "the first", post("paper"), []string{"#paper is new"})
	same(t, "again", post("paper"), []string(nil))
	same(t, "mistyped", post("papr"), []string{"#papr is new: did you mean paper?"})
}

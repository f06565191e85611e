package hub_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestASharedNameRevealsNoPrivateChannel: bran has made a public channel with the name of a private one that it has guessed.
// Whatever bran does with its channel is answered as for a name that nobody else has.
func TestASharedNameRevealsNoPrivateChannel(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran", "jon")
	w.CreateConversationAs("arya", parley.NewConversation{Name: "hidden", Private: true, With: []string{"ned"}})
	archived := true
	answers := func(name string) (list []string) {
		say := func(out any, err error) {
			text := ""
			if err != nil {
				text = err.Error()
			}
			if r, ok := out.(parley.Receipt); ok {
				text += strings.Join(r.Notices, "; ")
			}
			list = append(list, strings.ReplaceAll(text, name, "NAME"))
		}
		bran := as("bran")
		made, err := w.CreateConversation(ctx, bran, parley.NewConversation{Name: name})
		say(made, err)
		for _, ref := range []string{name, made.ID} {
			say(nil, w.AddMember(ctx, bran, ref, "ned"))
			say(nil, w.AddMember(ctx, bran, ref, "jon"))
			say(nil, w.RemoveMember(ctx, bran, ref, "ned"))
			say(w.Post(ctx, bran, parley.Draft{Conversation: ref, To: "ned", Content: text("hi @jon @arya")}))
			say(w.Post(ctx, bran, parley.Draft{Conversation: ref, Make: true, Content: text("in #" + name)}))
			say(w.CreateConversation(ctx, bran, parley.NewConversation{Name: name, Private: true}))
			say(nil, w.SetTopic(ctx, bran, ref, "topic of "+name))
		}
		say(nil, w.Rename(ctx, bran, name, name+"-2"))
		say(nil, w.Rename(ctx, bran, name+"-2", name))
		say(w.ChangeConversation(ctx, bran, name, parley.ConversationChange{Archived: &archived}))
		same(t, "members", slices.Sorted(slices.Values(w.ConversationAs("bran", made.ID).Members)), []string{"arya", "bran", "jon", "ned"})
		return list
	}
	same(t, "with the name of a private channel", answers("hidden"), answers("free"))
}

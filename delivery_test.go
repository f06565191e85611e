package parley

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// who reads "gendry! hound": gendry is woken, the hound only gets a delivery.
func who(reached []Reach) string {
	var names []string
	for _, r := range reached {
		if r.Wakes {
			r.Agent += "!"
		}
		names = append(names, r.Agent)
	}
	return strings.Join(names, " ")
}

func TestWhoAMessageReaches(t *testing.T) {
	var (
		channel = Conversation{Kind: Channel, Visibility: Public}
		named   = Conversation{Kind: Group, Name: "crew"}
		group   = Conversation{Kind: Group, Set: "arya,gendry,hound"}
		dm      = Conversation{Kind: DM, Set: "arya,gendry"}
		once    = Conversation{Kind: Ephemeral, Set: "arya,gendry"}

		three = []string{"arya", "gendry", "hound", System}
		two   = []string{"gendry", "arya"}
	)
	for _, c := range []struct {
		name    string
		in      Conversation
		members []string
		m       Message
		person  bool
		want    string
	}{
		{"a DM wakes", dm, two, Message{}, false, "gendry!"},
		{"a DM from a person wakes", dm, two, Message{}, true, "gendry!"},
		{"a DM to all wakes nobody", dm, two, Message{To: All}, false, "gendry"},
		{"a DM to the other wakes", dm, two, Message{To: "gendry"}, false, "gendry!"},
		{"a mention in a DM to all wakes", dm, two, Message{To: All, Mentions: []string{"gendry"}}, false, "gendry!"},
		{"an ephemeral wakes", once, two, Message{}, false, "gendry!"},

		{"a person in an implicit group wakes all", group, three, Message{}, true, "gendry! hound!"},
		{"an agent in an implicit group wakes nobody", group, three, Message{}, false, "gendry hound"},
		{"an agent there wakes whom it names", group, three, Message{To: "hound"}, false, "gendry hound!"},
		{"an agent there wakes whom it mentions", group, three, Message{Mentions: []string{"gendry"}}, false, "gendry! hound"},
		{"an agent there wakes all by @all", group, three, Message{Mentions: []string{All}}, false, "gendry! hound!"},
		{"to all there wakes nobody", group, three, Message{To: All}, true, "gendry hound"},

		{"a plain post is for nobody", channel, three, Message{}, false, ""},
		{"a person's plain post is for nobody", channel, three, Message{}, true, ""},
		{"a plain post in a named group is for nobody", named, three, Message{}, true, ""},
		{"to one", channel, three, Message{To: "hound"}, false, "hound!"},
		{"to all is for all and wakes nobody", channel, three, Message{To: All}, true, "gendry hound"},
		{"to all with a mention wakes the one", channel, three, Message{To: All, Mentions: []string{"hound"}}, false, "gendry hound!"},
		{"a mention", channel, three, Message{Mentions: []string{"gendry"}}, false, "gendry!"},
		{"mentions in the order of the members", channel, three, Message{Mentions: []string{"hound", "gendry"}}, false, "gendry! hound!"},
		{"@all wakes all", channel, three, Message{Mentions: []string{All}}, false, "gendry! hound!"},
		{"@all in a named group", named, three, Message{Mentions: []string{All}}, false, "gendry! hound!"},
		{"to one and a mention of another", channel, three, Message{To: "gendry", Mentions: []string{"hound"}}, false, "gendry! hound!"},

		{"oneself, by name", channel, three, Message{To: "arya", Mentions: []string{"arya"}}, false, ""},
		{"the hub has no inbox", channel, three, Message{To: System, Mentions: []string{System}}, false, ""},
		{"who is not there is not reached", channel, three, Message{To: "bran", Mentions: []string{"bran"}}, false, ""},
		{"no members", channel, nil, Message{To: All}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.m.From = "arya"
			for _, typ := range []Type{TypeChat, TypeRequest, TypeResponse, TypeTask, TypeResult, "ha_report"} {
				c.m.Type = typ
				if got := who(c.m.Reaches(c.in, c.members, c.person)); got != c.want {
					t.Errorf("%s: got %q, want %q", typ, got, c.want)
				}
			}
			// These reach the same participants and wake none of them.
			for _, typ := range []Type{TypeNotification, TypeStatus, TypeHeartbeat, TypeCommand, TypeError} {
				c.m.Type = typ
				if got, want := who(c.m.Reaches(c.in, c.members, c.person)), strings.ReplaceAll(c.want, "!", ""); got != want {
					t.Errorf("%s: got %q, want %q", typ, got, want)
				}
			}
		})
	}
}

func TestWhatTheHubSaysReachesAll(t *testing.T) {
	m := Message{From: System, Type: TypeChat}
	if got := who(m.Reaches(Conversation{Kind: DM, Set: "arya,gendry"}, []string{"arya", "gendry"}, false)); got != "arya! gendry!" {
		t.Errorf("got %q", got)
	}
}

func TestReachesNobodyTwiceNorTheSender(t *testing.T) {
	ids := []string{"a", "b", "c", "d", System}
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.Permutation(ids).Draw(t, "members")[:rapid.IntRange(0, len(ids)).Draw(t, "count")]
		anyone := rapid.SampledFrom(append([]string{"", All, "stranger"}, ids...))
		m := Message{
			From: rapid.SampledFrom(ids).Draw(t, "from"), To: anyone.Draw(t, "to"),
			Mentions: rapid.SliceOfNDistinct(anyone, 0, 4, rapid.ID[string]).Draw(t, "mentions"),
			Type:     rapid.SampledFrom([]Type{TypeChat, TypeStatus, "own"}).Draw(t, "type"),
		}
		c := Conversation{
			Kind: rapid.SampledFrom([]ConversationKind{Channel, Group, DM, Ephemeral}).Draw(t, "kind"),
			Set:  rapid.SampledFrom([]string{"", "a,b"}).Draw(t, "set"),
		}
		person := rapid.Bool().Draw(t, "person")
		before := slices.Clone(m.Mentions)
		reached := m.Reaches(c, members, person)
		rest := members
		for _, r := range reached {
			i := slices.Index(rest, r.Agent)
			if i < 0 || r.Agent == m.From || r.Agent == System {
				t.Fatalf("%s is reached, of %v, in the order of %v", r.Agent, reached, members)
			}
			rest = rest[i+1:]
			named := m.To == r.Agent || slices.Contains(m.Mentions, r.Agent) || slices.Contains(m.Mentions, All)
			if named && m.Type != TypeStatus && !r.Wakes {
				t.Fatalf("%s is named and not woken", r.Agent)
			}
			if r.Wakes && !named && m.To == All {
				t.Fatalf("%s is woken by a message to all", r.Agent)
			}
		}
		if diff := cmp.Diff(before, m.Mentions); diff != "" {
			t.Fatalf("the message was changed: %s", diff)
		}
	})
}

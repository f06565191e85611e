package parley

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// who reads "gendry! hound": gendry is woken, the hound only gets a delivery.
func who(reached []NewDelivery) string {
	var names []string
	for _, r := range reached {
		if r.Wakes {
			r.Agent += "!"
		}
		names = append(names, r.Agent)
	}
	return strings.Join(names, " ")
}

func TestConversationAndMentionsDecideRecipients(t *testing.T) {
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
		{"a person there wakes only whom it mentions", group, three, Message{Mentions: []string{"hound"}}, true, "gendry hound!"},
		{"a person that mentions itself there wakes all", group, three, Message{Mentions: []string{"arya"}}, true, "gendry! hound!"},
		{"a person that mentions somebody outside wakes all", group, three, Message{Mentions: []string{"bran", System}}, true, "gendry! hound!"},
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
				if got := who(c.m.NewDeliveries(c.in, c.members, c.person)); got != c.want {
					t.Errorf("%s: got %q, want %q", typ, got, c.want)
				}
			}
			// These reach the same participants and wake none of them.
			for _, typ := range []Type{TypeNotification, TypeStatus, TypeHeartbeat, TypeCommand, TypeError} {
				c.m.Type = typ
				if got, want := who(c.m.NewDeliveries(c.in, c.members, c.person)), strings.ReplaceAll(c.want, "!", ""); got != want {
					t.Errorf("%s: got %q, want %q", typ, got, want)
				}
			}
		})
	}
}

func TestMessagesOfTheHubReachAllMembers(t *testing.T) {
	m := Message{From: System, Type: TypeChat}
	if got := who(m.NewDeliveries(Conversation{Kind: DM, Set: "arya,gendry"}, []string{"arya", "gendry"}, false)); got != "arya! gendry!" {
		t.Errorf("got %q", got)
	}
}

func TestAddresseesOfAMessage(t *testing.T) {
	pair := Conversation{Kind: DM, Set: "arya,ned"}
	for name, test := range map[string]struct {
		m    Message
		in   Conversation
		want string
	}{
		"a post":            {Message{From: "arya"}, Conversation{Kind: Channel}, ""},
		"to somebody":       {Message{From: "arya", To: "ned"}, Conversation{Kind: Channel}, "ned"},
		"mentions":          {Message{From: "arya", To: "ned", Mentions: []string{"bran", "ned"}}, Conversation{Kind: Channel}, "bran ned"},
		"to all":            {Message{From: "arya", To: All}, Conversation{Kind: Channel}, "all"},
		"a DM":              {Message{From: "arya"}, pair, "ned"},
		"an implicit group": {Message{From: "ned", Mentions: []string{"bran"}}, Conversation{Kind: Group, Set: "arya,bran,ned"}, "arya bran"},
		"of the hub":        {Message{From: System, To: "arya"}, pair, "arya"},
	} {
		if got := strings.Join(test.m.Addressees(test.in), " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
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
		reached := m.NewDeliveries(c, members, person)
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

func TestPauseBeforeTheNextAttempt(t *testing.T) {
	for failure, want := range map[Failure]map[int]time.Duration{
		FailureLost:    {0: time.Second, 1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, 100: time.Minute},
		FailureBusy:    {1: 5 * time.Second, 2: 10 * time.Second, 6: 160 * time.Second, 7: 5 * time.Minute},
		FailureServer:  {1: 2 * time.Second, 2: 4 * time.Second, 6: 64 * time.Second, 7: 2 * time.Minute},
		FailureNoStart: {1: 5 * time.Second, 2: 10 * time.Second, 7: 320 * time.Second, 8: 10 * time.Minute},
		FailureFinal:   {1: 0, 100: 0},
		"unknown":      {1: 0, 100: 0},
	} {
		for failed, pause := range want {
			if got := failure.Pause(failed); got != pause {
				t.Errorf("%s after %d: %s, want %s", failure, failed, got, pause)
			}
		}
	}
}

func TestPauseNeverShrinksAndIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Failure{FailureLost, FailureBusy, FailureServer, FailureNoStart}).Draw(t, "failure")
		failed := rapid.IntRange(-5, 1<<40).Draw(t, "failed")
		shorter, longer := f.Pause(failed), f.Pause(failed+1)
		if shorter < time.Second || longer < shorter || longer > 10*time.Minute {
			t.Fatalf("%s after %d: %s, then %s", f, failed, shorter, longer)
		}
	})
}

func TestKnownFailures(t *testing.T) {
	for f, want := range map[Failure]bool{
		FailureLost: true, FailureBusy: true, FailureServer: true, FailureNoStart: true, FailureFinal: true, FailureStopped: true, "": false, "moody": false,
	} {
		if f.Known() != want {
			t.Errorf("%q: known is %t", f, !want)
		}
	}
}

func TestTraitsOfADelivery(t *testing.T) {
	now := time.Now()
	for state, want := range map[DeliveryState]string{
		DeliveryAccepted:  "open ready awaited unseen",
		DeliveryDelivered: "open awaited unseen",
		DeliverySeen:      "awaited",
		DeliveryAcked:     "",
		DeliveryAnswered:  "",
		DeliveryFailed:    "",
		DeliveryExpired:   "",
		DeliveryEvicted:   "",
		DeliveryDead:      "",
		DeliveryDropped:   "",
	} {
		d := Delivery{State: state, Waking: true, Deadline: &now}
		if got := traits(d); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
	for name, c := range map[string]struct {
		d    Delivery
		want string
	}{
		"seen by somebody at it": {Delivery{State: DeliverySeen, Lease: "x", Until: 1}, "open"},
		"pausing":                {Delivery{State: DeliveryAccepted, Until: 1}, "open"},
		"told already":           {Delivery{State: DeliveryAccepted, Waking: true, Deadline: &now, Overdue: true, Late: true}, "open ready"},
		"wakes nobody":           {Delivery{State: DeliveryAccepted}, "open ready"},
	} {
		if got := traits(c.d); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func traits(d Delivery) string {
	var list []string
	for _, trait := range []struct {
		name  string
		holds bool
	}{{"open", d.Open()}, {"ready", d.Ready()}, {"awaited", d.MayMissDeadline()}, {"unseen", d.MayBecomeOverdue()}} {
		if trait.holds {
			list = append(list, trait.name)
		}
	}
	return strings.Join(list, " ")
}

func TestNextIsTheEarliestDueTimeThatStillCounts(t *testing.T) {
	at := func(n int) *time.Time {
		t := time.Unix(int64(n), 0)
		return &t
	}
	accepted := Delivery{
		State: DeliveryAccepted, Waking: true, AcceptedAt: *at(0), Priority: mustLevel(t, 10),
		ExpiresAt: at(3), Deadline: at(4), // overdue at 5
	}
	for _, c := range []struct {
		name string
		edit func(*Delivery)
		want *time.Time
	}{
		{"it expires first", func(*Delivery) {}, at(3)},
		{"who has it keeps it", func(d *Delivery) { d.State = DeliveryDelivered }, at(4)},
		{"late already", func(d *Delivery) { d.State, d.Late = DeliveryDelivered, true }, at(5)},
		{"late and overdue already", func(d *Delivery) { d.State, d.Late, d.Overdue = DeliveryDelivered, true, true }, nil},
		{"seen, not answered", func(d *Delivery) { d.State = DeliverySeen }, at(4)},
		{"it wakes nobody and has no end", func(d *Delivery) { d.Waking, d.ExpiresAt, d.Deadline = false, nil, nil }, nil},
		{"acked", func(d *Delivery) { d.State = DeliveryAcked }, nil},
		{"dead", func(d *Delivery) { d.State = DeliveryDead }, nil},
	} {
		d := accepted
		c.edit(&d)
		if diff := cmp.Diff(c.want, d.Next()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func mustLevel(t *testing.T, level int) Priority {
	t.Helper()
	p, err := PriorityOf(level)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

package parley

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestImplicitSetsAndDMsHaveFixedMembers(t *testing.T) {
	for _, c := range []struct {
		kind  ConversationKind
		set   string
		fixed bool
	}{
		{DM, "a,b", true}, {Ephemeral, "a,b", true}, {Group, "a,b,c", true}, {Group, "", false}, {Channel, "", false},
	} {
		conv := Conversation{Kind: c.kind, Set: c.set}
		if got := conv.FixedMembers(); got != c.fixed {
			t.Errorf("%s with set %q: got %t", c.kind, c.set, got)
		}
		if got := conv.FixedMemberIDs(); len(got) > 0 != c.fixed || strings.Join(got, ",") != c.set {
			t.Errorf("%s with set %q: members %v", c.kind, c.set, got)
		}
	}
}

func TestOnlyPublicChannelsAreReadableByAll(t *testing.T) {
	for _, kind := range []ConversationKind{Channel, Group, DM, Ephemeral} {
		for _, v := range []Visibility{Public, Private, ""} {
			if got, want := (Conversation{Kind: kind, Visibility: v}).ReadableByAll(), kind == Channel && v == Public; got != want {
				t.Errorf("%s, %s: got %t", kind, v, got)
			}
		}
	}
}

func TestTitle(t *testing.T) {
	if got := (Conversation{ID: "1", Kind: Channel, Name: "project-x"}).Title(); got != "#project-x" {
		t.Errorf("got %q", got)
	}
	if got := (Conversation{ID: "1", Kind: DM}).Title(); got != "dm 1" {
		t.Errorf("got %q", got)
	}
}

func TestSetKeyIsTheKeyOfASet(t *testing.T) {
	ids := rapid.SliceOfN(rapid.StringMatching(`[a-c][a-c0-9_-]{0,2}`), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		before := slices.Clone(a)
		shuffled := rapid.Permutation(append(slices.Clone(a), a...)).Draw(t, "shuffled")
		if MemberSetKey(a) != MemberSetKey(shuffled) {
			t.Fatalf("order or repetition counts: %q, %q", MemberSetKey(a), MemberSetKey(shuffled))
		}
		if !slices.Equal(a, before) {
			t.Fatalf("the argument was changed to %v", a)
		}
		set := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
		if (MemberSetKey(a) == MemberSetKey(b)) != slices.Equal(set(a), set(b)) {
			t.Fatalf("%v and %v: keys %q and %q", a, b, MemberSetKey(a), MemberSetKey(b))
		}
		if got := (Conversation{Set: MemberSetKey(a)}).FixedMemberIDs(); !slices.Equal(got, set(a)) {
			t.Fatalf("the set of %v has the members %v", a, got)
		}
	})
}

func TestTopics(t *testing.T) {
	for _, topic := range []string{"", "Q4 report\nsecond line", strings.Repeat("x", 4096)} {
		if err := CheckTopic(topic); err != nil {
			t.Errorf("%q: %v", clip(topic), err)
		}
	}
	refused(t, CheckTopic(strings.Repeat("x", 4097)), "topic", "4097", "4096")
	refused(t, CheckTopic("a\x00b"), "topic", "NUL")
	refused(t, CheckTopic("\xff"), "topic", "UTF-8")
}

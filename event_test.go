package parley

import "testing"

func TestEventFilterSelectsKindsUpToADot(t *testing.T) {
	e := Event{Kind: EventDelivery(DeliverySeen), Conversation: "c"}
	for _, c := range []struct {
		filter EventFilter
		want   bool
	}{
		{EventFilter{}, true},
		{EventFilter{Kinds: []EventKind{"delivery"}}, true},
		{EventFilter{Kinds: []EventKind{"message", "delivery.seen"}}, true},
		{EventFilter{Kinds: []EventKind{"deliver"}}, false},
		{EventFilter{Kinds: []EventKind{"delivery.seen.twice"}}, false},
		{EventFilter{Conversation: "c", Kinds: []EventKind{"delivery"}}, true},
		{EventFilter{Conversation: "d"}, false},
	} {
		if got := c.filter.Selects(e); got != c.want {
			t.Errorf("%v selects %s: %v", c.filter, e.Kind, got)
		}
	}
}

func TestEventFilterRefusesInvalidKinds(t *testing.T) {
	for _, kind := range []EventKind{"", ".", "delivery.", "Delivery", "a b", "a,b"} {
		if CodeOf(EventFilter{Kinds: []EventKind{kind}}.Check()) != BadInput {
			t.Errorf("%q is taken", kind)
		}
	}
	if err := (EventFilter{Kinds: []EventKind{"overdue", "delivery.seen", "sequence_gap"}}).Check(); err != nil {
		t.Error(err)
	}
	if AsError(EventFilter{Kinds: make([]EventKind, maxKinds+1)}.Check()).Reason != TooLarge {
		t.Error("any number of kinds is taken")
	}
}

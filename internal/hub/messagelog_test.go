package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

func TestLogFilterResolvesTracesAndRemovedAgents(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	first := w.SendDM("user", "arya", "one").Message
	second := w.ReplyAs("arya", first.ID, "two").Message
	w.NoError(w.RemoveAgent(ctx, user, "gendry"))
	for _, test := range []struct{ give, want parley.LogFilter }{
		{parley.LogFilter{}, parley.LogFilter{}},
		{parley.LogFilter{Trace: "build-7", Agent: "ARYA"}, parley.LogFilter{Trace: "build-7", Agent: "arya"}},
		{parley.LogFilter{Trace: second.ID}, parley.LogFilter{Trace: first.TraceID}},
		{parley.LogFilter{Agent: "gendry", Limit: 7}, parley.LogFilter{Agent: "gendry", Limit: 7}},
	} {
		same(t, "the filter", resultOf[parley.LogFilter](w)(w.LogFilter(ctx, user, test.give)), test.want)
	}
	_, err := w.LogFilter(ctx, user, parley.LogFilter{Agent: "nobody"})
	wantError(t, err, notFoundError("agent", "nobody", listAgents))
	_, err = w.LogFilter(ctx, as("arya"), parley.LogFilter{})
	wantError(t, err, refusalError(parley.NotPermitted, "", "only an owner may read the message log", "ask an owner of this hub"))
}

package hub_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// talks has a script write repeatedly to an agent of the hub, which answers each time. It returns the number of answers.
func talks(w *fixture, most int, next func(a *parley.Arrival, answer string)) int {
	w.T.Helper()
	w.AddScriptAgents("ned")
	w.joinTree(parley.LayoutAgentOS, "tree", "ana")
	w.CreateChannel("user", "paper", "ned")
	answer := ""
	for n := range most {
		a := parley.Arrival{Name: fmt.Sprintf("msg-20260301-0900%02d-ana-abcd", n), From: "ana", To: "ned", Channel: "paper", Draft: parley.Draft{Content: text("go on")}}
		next(&a, answer)
		got := w.arriveFrom("tree", a)
		if heldUp(w.DeliveryOf(got.Message, "ned")) {
			return n
		}
		w.RunAndAnswer("ned", fmt.Sprint("answer ", n))
		list := w.departuresOf("tree", "paper")
		answer = list[0].Name
		w.reportDepartures("tree", parley.DepartureWritten, list...)
		w.Clock.Advance(time.Second)
	}
	return most
}

// A script that asks anew, whatever it was answered, is in no loop.
func TestAScriptThatAsksAnewIsInNoLoop(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	same(t, "answered", talks(w, 30, func(*parley.Arrival, string) {}), 30)
	same(t, "lines", w.hubStatusLines("paper"), []string{})
}

// One that answers each answer is, whether it names what it answers or only says that it is a watcher.
func TestAScriptThatAnswersEachAnswerIsHeld(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(a *parley.Arrival, answer string){
		"by name": func(a *parley.Arrival, answer string) { a.ReplyTo = answer },
		"a watcher": func(a *parley.Arrival, _ string) {
			a.Draft.Metadata = json.RawMessage(`{"agentos":{"metadata":{"mode":"watcher"}}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			if n := talks(w, 30, next); n > 8 {
				t.Errorf("%d were answered", n)
			}
			same(t, "one line", len(w.hubStatusLines("paper")), 1)
		})
	}
}

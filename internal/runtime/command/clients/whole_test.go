//go:build clients

package clients

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
)

// eachHub runs a test with every client, each with a hub of its own.
func eachHub(t *testing.T, test func(t *testing.T, h *hub)) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, newHub(t, c))
		})
	}
}

func TestAnIdleClientIsWokenAndAnswers(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		if text := h.ask(t, "ana", "--dm", "Remember the word tangerine."); text != answer {
			t.Errorf("the answer is %q", text)
		}
		first := h.run(t)
		wantPrompt(t, h.api.findRequest(t, "tangerine"), "tangerine", "Your id there is ana.", "fruiterer", "parley send AGENT",
			"from user (human)", "| Remember the word tangerine.\n--- end ---\n", "Your final text is posted as your reply in this ")

		h.ask(t, "ana", "--dm", "Which fruit was it?")
		second := h.run(t)
		news := wantPrompt(t, h.api.findRequest(t, "Which fruit", "tangerine"), "Which fruit", "| Which fruit was it?\n--- end ---\n")
		for _, old := range []string{"tangerine", "pong", "Your id there is ana."} {
			if strings.Contains(news, old) {
				t.Errorf("the prompt repeats %q:\n%s", old, news)
			}
		}
		wantCharged(t, h.client, first.Run, second.Run)

		h.parley(t, "conv", "new", "lab", "--with", "ana")
		if text := h.ask(t, "--conv", "lab", "@ana is it ripe?"); text != answer {
			t.Errorf("the answer in the channel is %q", text)
		}
		wantPrompt(t, h.api.findRequest(t, "ripe"), "ripe", "Your id there is ana.", "This is #lab, a public channel", "| @ana is it ripe?\n--- end ---\n")
		if h.run(t).Session == first.Session || h.api.findRequest(t, "ripe").HasText("tangerine") {
			t.Error("the channel has the session of the direct conversation")
		}
		if hosts := h.proxy.hosts(); len(hosts) > 0 {
			t.Errorf("it wanted to talk to %v", hosts)
		}
	})
}

// wantPrompt checks that exactly one text of a request contains these words, and that this text, the prompt, contains each of
// the others once. It returns the prompt.
func wantPrompt(t *testing.T, r modeltest.Request, words string, others ...string) string {
	t.Helper()
	found := textsWith(r, words)
	if len(found) != 1 || strings.Count(found[0], words) != 1 {
		t.Fatalf("%q is there in %d texts: %q", words, len(found), found)
	}
	for _, other := range others {
		if strings.Count(found[0], other) != 1 {
			t.Errorf("the prompt does not have %q once:\n%s", other, found[0])
		}
	}
	return found[0]
}

// wantCharged checks that two runs have the same session, and that each has only its own usage.
func wantCharged(t *testing.T, c client, first, second parley.Run) {
	t.Helper()
	if first.Session == "" || second.Session != first.Session {
		t.Errorf("session %q became %q", first.Session, second.Session)
	}
	for _, r := range []parley.Run{first, second} {
		if r.InputTokens != inputTokens || r.OutputTokens != outputTokens {
			t.Errorf("it used %+v", r.Usage)
		}
	}
	if tells := slices.Contains([]string{"claude", "opencode"}, c.name); tells != (first.Cost > 0) || math.Abs(first.Cost-second.Cost) > 1e-9 {
		t.Errorf("it cost %g, then %g", first.Cost, second.Cost)
	}
}

func TestTheShellOfAClientSpeaksForItsAgent(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		var called atomic.Bool
		h.api.answerBy(func(r modeltest.Request) modeltest.Answer {
			if slices.Contains(r.Tools, h.shell.tool) && !called.Swap(true) {
				return h.shell.calls("parley chat --conv lab 'The tangerines are here.'")
			}
			return theAnswer
		})
		h.parley(t, "conv", "new", "lab", "--with", "ana")
		if text := h.ask(t, "ana", "--dm", "Tell the others."); text != answer {
			t.Errorf("the answer is %q", text)
		}
		r := h.run(t)
		if read := h.parley(t, "conv", "read", "lab"); !strings.Contains(read, "ana: The tangerines are here.") || len(r.Posts) != 2 {
			requests := h.api.Requests()
			t.Errorf("in the channel is %q, posted was %v\n%s\n%s", read, r.Posts, r.Output, requests[len(requests)-1].Body)
		}
	})
}

func TestAStopEndsAClientAndAStartGoesOn(t *testing.T) {
	eachHub(t, func(t *testing.T, h *hub) {
		h.api.stopAnswering()
		var sent parley.Receipt
		read(t, h.parley(t, "send", "ana", "--dm", "Which fruit was it?", "-o", "json"), &sent)
		<-h.api.arrived
		h.down(t)
		if left := h.leftProcesses(t); left != "" {
			t.Errorf("the hub has left behind %s", left)
		}

		h.api.answerAlways(theAnswer)
		h.up(t)
		h.parley(t, "watch", "--after", "0", "--kinds", "delivery.answered", "--limit", "1")
		var runs []parley.RunState
		for _, r := range h.runs(t, "ana") {
			runs = append(runs, r.State)
			if !slices.Equal(r.Triggers, []string{sent.Message.ID}) || r.Attempt != 1 {
				t.Errorf("a run was woken by %v, at its attempt %d", r.Triggers, r.Attempt)
			}
		}
		if !slices.Equal(runs, []parley.RunState{parley.RunSucceeded, parley.RunCancelled}) {
			t.Errorf("the runs are %v", runs)
		}
	})
}

package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// hubStatusLines returns the texts of the hub's messages in a conversation, without errors.
func (w *fixture) hubStatusLines(ref string) []string {
	w.T.Helper()
	lines := []string{}
	for _, m := range resultOf[[]parley.Message](w)(w.History(ctx, user, ref, parley.Page{Limit: 200})) {
		if m.From == parley.System && m.Type == parley.TypeStatus {
			lines = append(lines, m.Content.Text)
		}
	}
	return lines
}

func heldUp(d parley.Delivery) bool {
	return d.State == parley.DeliveryFailed && d.Failure.Code == parley.DependencyFailed
}

// anyHeldUp reports whether deliveries of a message have failed. Each failure must be E005.
func anyHeldUp(t *testing.T, r parley.Receipt) bool {
	t.Helper()
	for _, d := range r.Deliveries {
		if heldUp(d) {
			return true
		}
		same(t, "state", d.State, parley.DeliveryAccepted)
	}
	return false
}

// exchangeUntilHeld has two agents write to each other in turn until the loop breaker stops a message, or until the maximum. It
// returns the number of messages that were not stopped.
func (w *fixture) exchangeUntilHeld(most int, where, a, b string) int {
	w.T.Helper()
	for n := range most {
		from, to := a, b
		if n%2 == 1 {
			from, to = b, a
		}
		r := w.PostAs(from, parley.Draft{Conversation: where, To: to})
		if slices.ContainsFunc(r.Deliveries, heldUp) {
			return n
		}
	}
	return most
}

const heldPair = "WriterBot and DataBot woke each other 8 times in a row; the hub holds further wake-ups between them. " +
	"To let them wake each other again, post a message here as a person, or run: parley agent resume-pair writerbot databot. Send held messages again."

func TestTwoAgentsThatAlwaysAnswerEachOtherAreHeld(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	for id, name := range map[string]string{"writerbot": "WriterBot", "databot": "DataBot"} {
		resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: id, Name: name}))
	}
	w.AddAgents("third")
	w.AddPerson("ned", parley.AccessMember)
	c := w.CreateChannel("user", "work", "writerbot", "databot", "third", "ned")
	before := w.LastEventNumber()
	same(t, "exchanges", w.exchangeUntilHeld(100, "work", "databot", "writerbot"), 8)
	same(t, "one line says why", w.hubStatusLines("work"), []string{heldPair})
	opened := slices.DeleteFunc(eventsAfter(w, before), func(e parley.Event) bool { return e.Kind != parley.EventLoopOpened })
	same(t, "events", []any{len(opened), opened[0].Conversation}, []any{1, c.ID})
	same(t, "the sender is told", len(w.HubMessagesTo("databot")), 1)

	w.Restart()
	another := w.SendDM("writerbot", "databot", "elsewhere")
	same(t, "in another conversation, after a restart", anyHeldUp(t, another), true)
	same(t, "the line is said once", len(w.hubStatusLines("work"))+len(w.hubStatusLines(another.Message.Conversation)), 1)
	for _, kind := range []parley.Type{parley.TypeStatus, parley.TypeNotification} {
		same(t, string(kind), anyHeldUp(t, w.PostAs("writerbot", parley.Draft{Conversation: "work", To: "databot", Type: kind})), false)
	}
	same(t, "an agent beside them", anyHeldUp(t, w.PostAs("third", parley.Draft{Conversation: "work", To: "databot"})), false)
	for _, purpose := range purposes {
		r := resultOf[parley.Receipt](w)(w.PostFor(ctx, as("writerbot"), parley.Draft{Direct: []string{"databot"}, Content: text("?")}, purpose))
		same(t, string(purpose), anyHeldUp(t, r), false)
	}
	same(t, "still", anyHeldUp(t, w.PostAs("writerbot", parley.Draft{Conversation: "work", To: "databot"})), true)

	before = w.LastEventNumber()
	same(t, "a person speaks", anyHeldUp(t, w.PostAs("ned", parley.Draft{Conversation: "work", To: "databot"})), false)
	same(t, "and closes it", slices.Contains(kindsAfter(w, before), parley.EventLoopClosed), true)
	same(t, "they go on, as far as before", w.exchangeUntilHeld(100, "work", "databot", "writerbot"), 8)
}

func TestQuietMinutesCloseABreaker(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("a", "b")
	w.CreateChannel("user", "work", "a", "b")
	w.exchangeUntilHeld(100, "work", "a", "b")
	w.Clock.Advance(10*time.Minute - time.Millisecond)
	same(t, "before", anyHeldUp(t, w.PostAs("a", parley.Draft{Conversation: "work", To: "b"})), true)
	w.Clock.Advance(time.Millisecond)
	before := w.LastEventNumber()
	same(t, "then", w.exchangeUntilHeld(100, "work", "a", "b"), 8)
	same(t, "closed", slices.Contains(kindsAfter(w, before), parley.EventLoopClosed), true)
	same(t, "a line each time", len(w.hubStatusLines("work")), 2)
}

func TestAPersonInTheMiddleStartsTheCountAnew(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("a", "b")
	w.CreateChannel("user", "work", "a", "b")
	w.CreateChannel("user", "elsewhere", "a", "b")
	w.exchangeUntilHeld(7, "work", "a", "b")
	w.SayIn("user", "elsewhere", "hello")
	same(t, "elsewhere changes nothing", w.exchangeUntilHeld(100, "work", "b", "a"), 1)
	w.SayIn("user", "work", "hello")
	w.exchangeUntilHeld(7, "work", "a", "b")
	w.SayIn("user", "work", "hello")
	same(t, "here it does", w.exchangeUntilHeld(100, "work", "b", "a"), 8)
}

func TestOnlyManagersAndOwnersMayResumeAPair(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("a", "b", "boss", "other")
	w.AddPerson("ned", parley.AccessMember)
	w.EditAgent("b", func(a *parley.Agent) { a.Manager = "boss" })
	w.CreateChannel("user", "work", "a", "b")
	w.exchangeUntilHeld(100, "work", "a", "b")
	resume := func(by, a, b string) func() error {
		return func() error { _, err := w.ResumePair(ctx, as(by), a, b); return err }
	}
	table := []refusal{{"nobody", resume("user", "a", "nobody"), notFoundError("agent", "nobody", listAgents)}}
	for _, who := range []string{"a", "b", "other", "ned"} {
		table = append(table, refusal{who, resume(who, "a", "b"), refusalError(parley.NotPermitted, "",
			who+" cannot let a and b continue", "ask the manager of either, or an owner of this hub")})
	}
	w.assertRefusals(t, table)
	for _, who := range []string{"user", "boss"} {
		before := w.LastEventNumber()
		same(t, who+" lifts it", resultOf[bool](w)(w.ResumePair(ctx, as(who), "b", "A")), true)
		same(t, "event", kindsAfter(w, before), []parley.EventKind{parley.EventLoopClosed})
		last := w.AuditEntries()[len(w.AuditEntries())-1]
		same(t, "audit", []string{last.Actor, last.Act, last.Subject, string(last.Detail)},
			[]string{who, "agent.resume_pair", "b", `{"exchanges":8,"with":"a"}`})
		same(t, "there is nothing left to lift", resultOf[bool](w)(w.ResumePair(ctx, as(who), "a", "b")), false)
		same(t, "they go on", w.exchangeUntilHeld(100, "work", "a", "b"), 8)
	}
}

// TestResumingAPairIsNoWayPastAMode: a supervised manager may let its report go on, and that changes nothing of what
// modes and rules say of messages between the two.
func TestResumingAPairIsNoWayPastAMode(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("a", "b", "boss")
	supervised := func(a *parley.Agent) { a.Mode = parley.ModeSupervised }
	w.EditAgent("boss", supervised)
	w.EditAgent("b", func(a *parley.Agent) { a.Manager = "boss" })
	w.CreateChannel("user", "work", "a", "b")
	w.exchangeUntilHeld(100, "work", "a", "b")
	w.EditAgent("a", supervised)
	w.EditAgent("b", supervised)
	before := w.LastEventNumber()
	same(t, "boss lifts it", resultOf[bool](w)(w.ResumePair(ctx, as("boss"), "a", "b")), true)
	same(t, "it posts nothing", kindsAfter(w, before), []parley.EventKind{parley.EventLoopClosed})
	for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}, {"boss", "a"}} {
		_, err := w.Post(ctx, as(pair[0]), parley.Draft{Direct: []string{pair[1]}, Content: text("x")})
		w.HeldApproval(err)
	}
}

// TestOneSidedMessagesAreNoLoop has one agent write to another again and again; only what alternates is counted.
func TestOneSidedMessagesAreNoLoop(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("a", "b")
	w.CreateChannel("user", "work", "a", "b")
	for round := range 4 {
		for range 30 {
			same(t, "held", anyHeldUp(t, w.PostAs("a", parley.Draft{Conversation: "work", To: "b"})), false)
		}
		w.Clock.Advance(9 * time.Minute) // what is not counted is no quiet either
		if round < 3 {
			same(t, "the answer", anyHeldUp(t, w.PostAs("b", parley.Draft{Conversation: "work", To: "a"})), false)
		}
	}
	same(t, "no line yet", len(w.hubStatusLines("work")), 0)
	same(t, "the eighth opens", anyHeldUp(t, w.PostAs("b", parley.Draft{Conversation: "work", To: "a"})), false)
	same(t, "one line", len(w.hubStatusLines("work")), 1)
	for from, to := range map[string]string{"a": "b", "b": "a"} {
		same(t, "then "+from+" is held", anyHeldUp(t, w.PostAs(from, parley.Draft{Conversation: "work", To: to})), true)
	}
}

// TestAChainOfAgentsIsHeld sends one message on along many agents, no two of which write to each other twice.
func TestAChainOfAgentsIsHeld(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	ids := []string{"user"}
	for n := range 12 {
		ids = append(ids, fmt.Sprint("agent", n))
	}
	w.AddAgents(ids[1:]...)
	w.CreateChannel("user", "work", ids[1:]...)
	last := w.PostAs("user", parley.Draft{Conversation: "work", To: ids[1]})
	passed := 0
	for n := 2; n < len(ids) && !anyHeldUp(t, last); n++ {
		last = w.PostAs(ids[n-1], parley.Draft{InReplyTo: last.Message.ID, To: ids[n], Conversation: "work"})
		passed = n - 1
	}
	same(t, "the ninth is held", []any{anyHeldUp(t, last), passed}, []any{true, 9})
	same(t, "one line", w.hubStatusLines("work"), []string{"8 automatic wake-ups in a row led to the message of agent7 to agent8; " +
		"the hub holds further wake-ups in this chain. To let the agents continue, post a message here as a person."})
	same(t, "a new chain is not held", anyHeldUp(t, w.PostAs("agent9", parley.Draft{Conversation: "work", To: "agent10"})), false)
}

// TestAChainOfRunsIsHeld has each agent write to the next while it runs, without naming what it answers.
func TestAChainOfRunsIsHeld(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	var ids []string
	for n := range 12 {
		ids = append(ids, fmt.Sprint("bot", n))
	}
	w.AddScriptAgents(ids...)
	w.SendDM("user", ids[0], "begin")
	for n, id := range ids[:len(ids)-1] {
		run := w.StartRun(id)
		same(t, "chain", run.Run.Chain, n)
		r := resultOf[parley.Receipt](w)(w.Post(ctx, run.Caller(), parley.Draft{Direct: []string{ids[n+1]}, Content: text("go on")}))
		w.EndRun(run, "")
		same(t, fmt.Sprint("wake ", n+1), anyHeldUp(t, r), n == 8)
		if n == 8 {
			same(t, "it starts nothing", w.nextInstantRun(ids[n+1]) == nil, true)
			return
		}
	}
}

func TestTooManyHopsWakeNobody(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Loops = hub.Loops{Exchanges: 1000} })
	w.AddAgents("a", "b")
	w.AddPerson("ned", parley.AccessMember)
	w.CreateChannel("user", "work", "a", "b", "ned")
	last := w.SayIn("a", "work", "first")
	for n := range 32 {
		same(t, "held", anyHeldUp(t, last), false)
		from, to := "b", "a"
		if n%2 == 1 {
			from, to = to, from
		}
		last = w.PostAs(from, parley.Draft{InReplyTo: last.Message.ID, Conversation: "work", Content: text("@" + to + " @ned")})
	}
	same(t, "hops", last.Message.Hops, 33)
	for _, d := range last.Deliveries {
		same(t, d.Recipient, d.State == parley.DeliveryFailed, d.Recipient != "ned")
	}
	same(t, "no line", strings.Join(w.hubStatusLines("work"), ""), "")
}

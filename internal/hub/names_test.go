package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// naming is a call that takes the short name of a message, an approval or a run.
type naming struct {
	noun parley.Noun
	call func(w *fixture, who, name string) error
}

// namings are all calls that take the short name of a message, an approval or a run.
var namings = map[string]naming{
	"show a message": {parley.NounMessage, func(w *fixture, who, name string) error { return errorOf(w.Message(ctx, as(who), name)) }},
	"read a thread":  {parley.NounMessage, func(w *fixture, who, name string) error { return errorOf(w.Thread(ctx, as(who), name)) }},
	"reply": {parley.NounMessage, func(w *fixture, who, name string) error {
		return errorOf(w.Post(ctx, as(who), parley.Draft{InReplyTo: name, Content: text("I see")}))
	}},
	"await a message": {parley.NounMessage, func(w *fixture, who, name string) error {
		return errorOf(w.AwaitState(ctx, as(who), name, parley.DeliverySeen, 0))
	}},
	"await an answer":    {parley.NounMessage, func(w *fixture, who, name string) error { return errorOf(w.AwaitOutcome(ctx, as(who), name, 0)) }},
	"acknowledge":        {parley.NounMessage, func(w *fixture, who, name string) error { return errorOf(w.Ack(ctx, as(who), "", name)) }},
	"say what was shown": {parley.NounMessage, func(w *fixture, who, name string) error { return errorOf(w.MarkShown(ctx, as(who), name)) }},
	"show an approval":   {parley.NounApproval, func(w *fixture, who, name string) error { return errorOf(w.Approval(ctx, as(who), name)) }},
	"await an approval": {parley.NounApproval, func(w *fixture, who, name string) error {
		return errorOf(w.AwaitOutcome(ctx, as(who), name, 0))
	}},
	"show a run":    {parley.NounRun, func(w *fixture, who, name string) error { return errorOf(w.Run(ctx, as(who), name)) }},
	"read a run":    {parley.NounRun, func(w *fixture, who, name string) error { return errorOf(w.RunOutput(ctx, as(who), name)) }},
	"trace":         {parley.NounMessage, func(w *fixture, who, name string) error { return errorOf(w.Trace(ctx, as(who), name)) }},
	"trace a run":   {parley.NounRun, func(w *fixture, who, name string) error { return errorOf(w.Trace(ctx, as(who), name)) }},
	"need of a new": {parley.NounMessage, needs},
	"cancel a run":  {parley.NounRun, func(w *fixture, who, name string) error { return errorOf(w.CancelRun(ctx, as(who), name, "")) }},
	"decide on an approval": {parley.NounApproval, func(w *fixture, who, name string) error {
		return errorOf(w.Decide(ctx, as(who), name, parley.Decision{Approve: true}))
	}},
}

func needs(w *fixture, who, name string) error {
	return errorOf(w.NewTask(ctx, as(who), parley.NewTask{Title: "next", DependsOn: []string{name}}))
}

// things are a message from boss to intern, a run of intern, and an approval that the run needs.
type things map[parley.Noun]struct {
	id     string
	number int64
	who    string // a participant that may make every call with it
}

func (w *fixture) makeOneOfEach() things {
	w.T.Helper()
	w.addInternOffice()
	m := w.SendDM("boss", "intern", "a sword").Message
	a := w.StartRun("intern")
	held := w.HeldApproval(w.TryContact(hub.Caller{Agent: "intern", Source: "run", Run: a.Run.ID}, notifyContact("senior", "hello")))
	return things{
		parley.NounMessage: {m.ID, m.Seq, "intern"}, parley.NounApproval: {held.ID, held.Number, "boss"}, parley.NounRun: {a.Run.ID, a.Run.Number, "intern"},
	}
}

func TestShortNamesAreTakenWhereverAnIDIs(t *testing.T) {
	t.Parallel()
	for name, n := range namings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			there := w.makeOneOfEach()[n.noun]
			if there.number == 0 {
				t.Fatal("it has no number")
			}
			if name == "need of a new" || name == "reply" {
				there.who = "boss" // the intern's are held
			}
			w.NoError(n.call(w, there.who, strings.ToUpper(n.noun.ShortName(there.number))))
		})
	}
}

func TestTheEndOfAnIDIsTakenWhereverAnIDIs(t *testing.T) {
	t.Parallel()
	for name, n := range namings {
		if name == "trace a run" { // whose id names no trace
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			there := w.makeOneOfEach()[n.noun]
			if name == "need of a new" || name == "reply" {
				there.who = "boss"
			}
			w.NoError(n.call(w, there.who, strings.ToUpper(endOf(there.id))))
		})
	}
}

// endOf returns the end of an id, with a letter: a name of digits alone is the number of a task.
func endOf(id string) string {
	for n := 12; ; n++ {
		if end := id[len(id)-n:]; strings.ContainsAny(end, "abcdef") {
			return end
		}
	}
}

// What a caller may not see and what does not exist are the same to it, down to the words.
func TestAForeignShortNameLooksMissing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	there := w.makeOneOfEach()
	w.AddPollingAgents("stranger")
	for name, n := range namings {
		t.Run(name, func(t *testing.T) {
			one := there[n.noun]
			missing := n.noun.ShortName(987654321)
			for _, foreign := range []string{n.noun.ShortName(one.number), endOf(one.id)} {
				other := missing
				if foreign == endOf(one.id) {
					other = "00000000ffff"
				}
				got, want := n.call(w, "stranger", foreign), n.call(w, "stranger", other)
				if got == nil || want == nil {
					t.Fatalf("%s: %v, and %s: %v", foreign, got, other, want)
				}
				a, b := parley.AsError(got), parley.AsError(want)
				a.Message, b.Message = strings.ReplaceAll(a.Message, foreign, "x"), strings.ReplaceAll(b.Message, other, "x")
				same(t, foreign, a, b)
			}
		})
	}
	same(t, "the run goes on", w.RunByID(there[parley.NounRun].id).State, parley.RunRunning)
}

func TestNumbersAloneAreTakenWhereTheKindIsClear(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	there := w.makeOneOfEach()
	number := func(n parley.Noun) string { return fmt.Sprint(there[n].number) }
	same(t, "a run", resultOf[parley.RunView](w)(w.Run(ctx, user, number(parley.NounRun))).ID, there[parley.NounRun].id)
	same(t, "an approval", resultOf[parley.Approval](w)(w.Approval(ctx, user, number(parley.NounApproval))).ID, there[parley.NounApproval].id)
	same(t, "a message", resultOf[parley.Shown](w)(w.Message(ctx, user, number(parley.NounMessage))).ID, there[parley.NounMessage].id)
	_, err := w.AwaitOutcome(ctx, user, "999", 0) // which is a task, and no message or approval
	if parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("got %v", err)
	}
}

// A beginning that several things have which the caller may see is refused with their names; those it may not see do not count.
func TestAnAmbiguousPieceNamesOnlyVisibleMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry", "sansa")
	hidden := []parley.Message{w.SendDM("arya", "gendry", "one").Message, w.SendDM("arya", "gendry", "two").Message}
	seen := w.SendDM("arya", "sansa", "three").Message
	begin := seen.ID[:6] // the newest ids of a hub begin alike
	same(t, "only one is hers", resultOf[parley.Shown](w)(w.Message(ctx, as("sansa"), begin)).ID, seen.ID)
	_, err := w.Message(ctx, as("gendry"), begin)
	wantError(t, err, refusalError(parley.BadInput, parley.Conflict,
		fmt.Sprintf("%q matches several messages: %s, %s", begin, hidden[0].ShortName(), hidden[1].ShortName()),
		"use one of these names, or write more characters of the id"))
	for i := range 5 {
		w.SendDM("arya", "gendry", fmt.Sprint(i))
	}
	_, err = w.Message(ctx, user, begin)
	if said := parley.AsError(err).Message; !strings.HasSuffix(said, " and others") || strings.Count(said, ", ") != 3 {
		t.Errorf("got %v", err)
	}
}

func TestAMessageOfAConversationThatWasLeftIsAcknowledgedByItsShortName(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.CreatePrivateChannel("arya", "secret", "gendry")
	m := w.SayIn("arya", "secret", "@gendry").Message
	w.NoError(w.Leave(ctx, as("gendry"), "secret"))
	w.AckAs("gendry", m.ShortName())
	same(t, "its state", w.DeliveryState(m.ID, "gendry"), parley.DeliveryAcked)
}

func TestDeadLettersAndRedactionsAreCalledByShortName(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.EditAgent("gendry", func(a *parley.Agent) { a.Attempts = 1 })
	m := w.SendDM("arya", "gendry", "one").Message
	w.NackTaken("gendry", w.TakeAs("gendry", parley.Take{}), parley.FailureBusy)
	same(t, "its state", w.DeliveryState(m.ID, "gendry"), parley.DeliveryDead)
	resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, m.ShortName(), ""))
	taken := w.TakeAs("gendry", parley.Take{Only: []string{m.ShortName()}})
	resultOf[[]parley.Delivery](w)(w.Nack(ctx, as("gendry"), taken.Lease, parley.Trouble{Failure: parley.FailureBusy}, m.ShortName()))
	resultOf[parley.Delivery](w)(w.DropDead(ctx, user, m.ID[len(m.ID)-8:], "gendry"))
	same(t, "redacted", resultOf[parley.Message](w)(w.Redact(ctx, user, m.ShortName(), "")).ID, m.ID)
}

// A call that is held is for the message that was meant when it was made, whatever the piece of its id means later.
func TestAHeldCallKeepsTheIDThatAShortNameMeant(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.addNamedAgent("strict", "StrictBot", func(p *parley.Profile) { p.Mode = parley.ModeStrict })
	w.CreateChannel("arya", "open")
	m := w.SayIn("arya", "open", "a sword").Message
	for _, name := range []string{m.ShortName(), m.ID[len(m.ID)-8:]} {
		_, err := w.Message(ctx, as("strict"), name)
		if held := w.HeldApproval(err); !strings.Contains(string(held.Call.Args), m.ID) {
			t.Errorf("the call is %s", held.Call.Args)
		}
	}
}

func TestALookUpByAPieceCountsAsASearch(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Load.Reads = hub.Rate{PerSecond: 1, Burst: 25} })
	w.AddPollingAgents("arya", "gendry")
	m := w.SendDM("arya", "gendry", "one").Message
	caller := hub.Caller{Agent: "gendry", Source: "api", Token: "t", Scopes: parley.Scopes{parley.ScopeRead}}
	limited := func(name string) error { return errorOf(w.Message(context.Background(), caller, name)) }
	for range 2 {
		w.NoError(limited(m.ID[len(m.ID)-12:]))
	}
	if err := limited(m.ID[len(m.ID)-12:]); parley.AsError(err).Reason != parley.RateLimited {
		t.Errorf("got %v", err)
	}
}

func TestEventsOfRunsAndApprovalsHaveTheirNumbers(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	before := w.LastEventNumber()
	w.makeOneOfEach()
	var found []string
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) error {
		list, err := tx.Log().Events(before, 1000)
		for _, e := range list {
			if (e.Kind == "run.running" || e.Kind == "approval.pending") && strings.Contains(string(e.Data), `"number":1`) {
				found = append(found, string(e.Kind))
			}
		}
		return err
	}))
	same(t, "events", found, []string{"run.running", "approval.pending"})
}

// Names in the form of short names are refused for what is new, with a hint. What has one since before keeps it.
func TestNamesInTheFormOfShortNamesAreRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.CreateChannel("arya", "general")
	rename := func(name string) error {
		_, err := w.ChangeAgent(ctx, user, "arya", func(a *parley.Agent) error { a.Name = name; return nil })
		return err
	}
	for what, err := range map[string]error{
		"an agent's id":   errorOf(w.AddAgent(ctx, user, parley.NewAgent{ID: "run-12"})),
		"an agent's name": errorOf(w.AddAgent(ctx, user, parley.NewAgent{ID: "bot", Name: "Task-101"})),
		"a person's":      errorOf(w.AddAgent(ctx, user, parley.NewAgent{ID: "m7", Kind: parley.KindHuman, Access: parley.AccessMember})),
		"renamed":         rename("Approval-7"),
		"a channel":       errorOf(w.CreateConversation(ctx, as("arya"), parley.NewConversation{Name: "m1234"})),
		"a group":         errorOf(w.CreateConversation(ctx, as("arya"), parley.NewConversation{Name: "run-1", Group: true})),
		"a new name":      w.Rename(ctx, as("arya"), "general", "task-1"),
		"made by a post":  errorOf(w.Post(ctx, as("arya"), parley.Draft{Conversation: "approval-1", Make: true, Content: text("hello")})),
	} {
		e := parley.AsError(err)
		if err == nil || e.Code != parley.BadInput || !strings.Contains(e.Message, "short name") || !strings.Contains(e.Suggestion, "choose another") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A home from before the rule has agents and channels with such names: they go on, and can be exported and imported again.
func TestNamesFromBeforeShortNamesGoOn(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "gendry")
	c := w.CreateChannel("arya", "old", "gendry")
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		a, err := tx.Agents().Find("arya")
		if err != nil {
			return err
		}
		a.Name = "Run-1"
		there, err := tx.Conversations().Find(c.ID)
		if err != nil {
			return err
		}
		there.Name = "m7"
		return errors.Join(tx.Agents().Put(a), tx.Conversations().Put(there))
	}))
	w.SendDM("gendry", "run-1", "hello")
	w.SayIn("gendry", "#m7", "hello")
	w.EditAgent("arya", func(a *parley.Agent) { a.Role = "smith" })
	w.NoError(w.SetTopic(ctx, as("arya"), "m7", "the forge"))
	same(t, "its messages", len(w.TextsIn("arya", "m7")), 1)
	report := resultOf[parley.ImportReport](w)(w.Import(ctx, user, strings.NewReader(w.exportEverything())))
	same(t, "imported again", report.Conversations+report.Agents, int64(0))
}

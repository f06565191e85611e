package costtest

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// useCase is something that a hub does often.
type useCase struct {
	name string
	// prepare sets a new measuredHub up and returns a step, which is measured several times.
	prepare func(w *measuredHub) step
	// without is the same with something left out. Only the difference is shown, which is what that part costs. Optional.
	without func(w *measuredHub) step
}

// step is one occurrence of a use case. Only the cost of do is measured; before and after are optional.
type step struct{ before, do, after func() }

var useCases = []useCase{
	{name: "post to one", prepare: postToOne},
	{name: "post to ten", prepare: postToTen},
	{name: "post in a channel, mentioning one", prepare: postInChannel},
	{name: "take one", prepare: takeMessages(1)},
	{name: "ack one", prepare: ackMessages(1)},
	{name: "take twenty", prepare: takeMessages(20)},
	{name: "ack twenty", prepare: ackMessages(20)},
	{name: "next run", prepare: nextRun},
	{name: "run start", prepare: runStart},
	{name: "run end", prepare: runEnd},
	{name: "ask, with the run that answers it", prepare: ask},
	{name: "delegate", prepare: delegate},
	{name: "run end with callback", prepare: callback},
	{name: "read a page of history", prepare: history},
	{name: "index a message", prepare: postWhileServing, without: postToOne},
	{name: "event to a subscriber", prepare: postToSubscriber, without: postWhileServing},
}

var body = strings.Repeat("All work and no play. ", 24)[:512]

// The participants of the use cases.
var (
	sender   = hub.Caller{Agent: "arya", Source: "api"}
	receiver = hub.Caller{Agent: "bran", Source: "api"}
)

// worker is the agent that the hub runs.
const worker = "codex"

// addAgent adds an agent. With a runtime the hub runs it; without one it polls its inbox.
func (w *measuredHub) addAgent(id, runtime string) {
	w.t.Helper()
	must[parley.Agent](w)(w.AddAgent(ctx, owner, parley.NewAgent{
		ID: id, Profile: parley.Profile{Runtime: runtime, InboxOverflow: parley.OverflowUnbounded},
	}))
}

// post posts the body into a conversation and requires so many deliveries.
func (w *measuredHub) post(from hub.Caller, d parley.Draft, deliveries int) parley.Message {
	w.t.Helper()
	d.Content.Text += body
	receipt := must[parley.Receipt](w)(w.Post(ctx, from, d))
	if len(receipt.Deliveries) != deliveries {
		w.t.Fatalf("the post has %d deliveries, want %d", len(receipt.Deliveries), deliveries)
	}
	return receipt.Message
}

// dm opens a DM of the two agents that poll.
func (w *measuredHub) dm() parley.Draft {
	w.t.Helper()
	w.addAgent(sender.Agent, "")
	w.addAgent(receiver.Agent, "")
	m := w.post(sender, parley.Draft{Direct: []string{receiver.Agent}}, 1)
	return parley.Draft{Conversation: m.Conversation}
}

func postToOne(w *measuredHub) step {
	dm := w.dm()
	return step{do: func() { w.post(sender, dm, 1) }}
}

// tenAgents adds ten agents.
func (w *measuredHub) tenAgents() (ids []string) {
	w.t.Helper()
	for n := range 10 {
		ids = append(ids, fmt.Sprintf("agent-%d", n))
		w.addAgent(ids[n], "")
	}
	return ids
}

func postToTen(w *measuredHub) step {
	group := w.post(owner, parley.Draft{Direct: w.tenAgents()}, 10).Conversation
	return step{do: func() { w.post(owner, parley.Draft{Conversation: group}, 10) }}
}

func postInChannel(w *measuredHub) step {
	w.addAgent(sender.Agent, "")
	w.addAgent(receiver.Agent, "")
	made := must[parley.ConversationView](w)(w.CreateConversation(ctx, owner, parley.NewConversation{
		Name: "open", With: append(w.tenAgents(), sender.Agent, receiver.Agent),
	}))
	mention := parley.Draft{Conversation: made.ID, Content: parley.Content{Text: "@" + receiver.Agent + " "}}
	return step{do: func() { w.post(sender, mention, 1) }}
}

// take takes all that is ready for the receiver and requires so many deliveries.
func (w *measuredHub) take(n int) parley.Taken {
	w.t.Helper()
	taken := must[parley.Taken](w)(w.Take(ctx, receiver, parley.Take{Limit: n + 1}))
	if len(taken.Deliveries) != n {
		w.t.Fatalf("took %d deliveries, want %d", len(taken.Deliveries), n)
	}
	return taken
}

func (w *measuredHub) ack(taken parley.Taken) {
	w.t.Helper()
	var ids []string
	for _, d := range taken.Deliveries {
		ids = append(ids, d.Message)
	}
	must[[]parley.Delivery](w)(w.Ack(ctx, receiver, taken.Lease, ids...))
}

// fill returns what posts so many messages to the receiver, whose inbox is empty at first.
func (w *measuredHub) fill(n int) func() {
	w.t.Helper()
	dm := w.dm()
	w.ack(w.take(1))
	return func() {
		for range n {
			w.post(sender, dm, 1)
		}
	}
}

func takeMessages(n int) func(*measuredHub) step {
	return func(w *measuredHub) step {
		var taken parley.Taken
		return step{
			before: w.fill(n),
			do:     func() { taken = w.take(n) },
			after:  func() { w.ack(taken) },
		}
	}
}

func ackMessages(n int) func(*measuredHub) step {
	return func(w *measuredHub) step {
		var taken parley.Taken
		fill := w.fill(n)
		return step{
			before: func() {
				fill()
				taken = w.take(n)
			},
			do: func() { w.ack(taken) },
		}
	}
}

// nextRun is the next run of the worker, which there must be.
func (w *measuredHub) nextRun() *hub.Assignment {
	w.t.Helper()
	run := must[*hub.Assignment](w)(w.NextRun(ctx, worker, hub.RunOptions{Node: "node"}))
	if run == nil {
		w.t.Fatal("there is no next run")
	}
	return run
}

func (w *measuredHub) startRun(run *hub.Assignment) {
	w.t.Helper()
	must[parley.RunContext](w)(w.RunContext(ctx, run.Run.ID))
	w.ok(w.BeginRun(ctx, run.Run.ID, parley.Process{}))
}

func (w *measuredHub) endRun(run *hub.Assignment) {
	w.t.Helper()
	ended := must[parley.Run](w)(w.FinishRun(ctx, run.Run.ID, parley.Result{Text: body}, nil))
	if ended.State != parley.RunSucceeded || ended.Answer == "" {
		w.t.Fatalf("the run is %s and its answer is %q", ended.State, ended.Answer)
	}
}

// mention adds the worker and returns what mentions it in a channel.
func (w *measuredHub) mention() func() {
	w.t.Helper()
	w.addAgent(worker, parley.RuntimeScript)
	made := must[parley.ConversationView](w)(w.CreateConversation(ctx, owner, parley.NewConversation{Name: "open", With: []string{worker}}))
	return func() {
		w.post(owner, parley.Draft{Conversation: made.ID, Content: parley.Content{Text: "@" + worker + " "}}, 1)
	}
}

func nextRun(w *measuredHub) step {
	var run *hub.Assignment
	return step{
		before: w.mention(),
		do:     func() { run = w.nextRun() },
		after: func() {
			w.startRun(run)
			w.endRun(run)
		},
	}
}

func runStart(w *measuredHub) step {
	var run *hub.Assignment
	mention := w.mention()
	return step{
		before: func() {
			mention()
			run = w.nextRun()
		},
		do:    func() { w.startRun(run) },
		after: func() { w.endRun(run) },
	}
}

func runEnd(w *measuredHub) step {
	var run *hub.Assignment
	mention := w.mention()
	return step{
		before: func() {
			mention()
			run = w.nextRun()
			w.startRun(run)
		},
		do: func() { w.endRun(run) },
	}
}

// ask is the whole of an ask: the worker answers before the hub begins to wait, so that the order is always the same.
func ask(w *measuredHub) step {
	w.addAgent(worker, parley.RuntimeScript)
	answer := func(parley.Contacted, time.Duration) {
		run := w.nextRun()
		w.startRun(run)
		w.endRun(run)
	}
	return step{do: func() {
		told := must[parley.Contacted](w)(w.ContactTelling(ctx, owner, parley.Contact{Pattern: parley.PatternAsk, Agent: worker, Message: body}, answer))
		if told.Outcome != parley.ContactAnswered {
			w.t.Fatalf("the ask is %s", told.Outcome)
		}
	}}
}

func (w *measuredHub) delegate() {
	w.t.Helper()
	must[parley.Contacted](w)(w.Contact(ctx, sender, parley.Contact{Pattern: parley.PatternDelegate, Agent: worker, Message: body}))
}

func delegate(w *measuredHub) step {
	w.addAgent(sender.Agent, "")
	w.addAgent(worker, parley.RuntimeScript)
	return step{
		do: w.delegate,
		after: func() {
			run := w.nextRun()
			w.startRun(run)
			w.endRun(run)
		},
	}
}

func callback(w *measuredHub) step {
	var run *hub.Assignment
	w.addAgent(sender.Agent, "")
	w.addAgent(worker, parley.RuntimeScript)
	return step{
		before: func() {
			w.delegate()
			run = w.nextRun()
			w.startRun(run)
		},
		do: func() { w.endRun(run) },
		after: func() {
			taken := must[parley.Taken](w)(w.Take(ctx, sender, parley.Take{}))
			if len(taken.Messages) != 1 || taken.Deliveries[0].Purpose != parley.PurposeCallback {
				w.t.Fatalf("there is no callback, but %+v", taken.Deliveries)
			}
			must[[]parley.Delivery](w)(w.Ack(ctx, sender, taken.Lease, taken.Messages[0].ID))
		},
	}
}

func history(w *measuredHub) step {
	const page = 50
	dm := w.dm()
	for range 2 * page {
		w.post(sender, dm, 1)
	}
	return step{do: func() {
		list := must[[]parley.Message](w)(w.History(ctx, receiver, dm.Conversation, parley.Page{Limit: page}))
		if len(list) != page {
			w.t.Fatalf("the page has %d messages", len(list))
		}
	}}
}

// postWhileServing posts to one while the hub's services run, and waits until they have done their part.
func postWhileServing(w *measuredHub) step {
	dm := w.dm()
	w.Start(ctx)
	return step{do: func() {
		w.post(sender, dm, 1)
		synctest.Wait()
	}}
}

// postToSubscriber is postWhileServing with a subscriber of the events.
func postToSubscriber(w *measuredHub) step {
	posting := postWhileServing(w)
	newest := must[int64](w)(w.LastEvent(ctx, owner))
	follows, err := w.Subscribe(ctx, owner, newest, parley.EventFilter{})
	w.ok(err)
	w.t.Cleanup(follows.Close)
	next := func() {
		events, _, err := follows.Next(ctx)
		w.ok(err)
		if len(events) == 0 || events[len(events)-1].Kind != parley.EventMessagePosted {
			w.t.Fatalf("the subscriber gets %+v", events)
		}
	}
	follows.Nudge()
	_, _, err = follows.Next(ctx) // from here on the hub reads for it
	w.ok(err)
	return step{do: func() {
		posting.do()
		next()
	}}
}

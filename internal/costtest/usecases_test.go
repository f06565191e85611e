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
	prepare func(h *measuredHub) step
	// without prepares the same use case without one part. If it is set, the table shows only the difference, which is what that
	// part costs.
	without func(h *measuredHub) step
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
func (h *measuredHub) addAgent(id, runtime string) {
	h.t.Helper()
	must[parley.Agent](h)(h.AddAgent(ctx, owner, parley.NewAgent{
		ID: id, Profile: parley.Profile{Runtime: runtime, InboxOverflow: parley.OverflowUnbounded},
	}))
}

// post posts the body into a conversation and requires the given number of deliveries.
func (h *measuredHub) post(from hub.Caller, d parley.Draft, deliveries int) parley.Message {
	h.t.Helper()
	d.Content.Text += body
	receipt := must[parley.Receipt](h)(h.Post(ctx, from, d))
	if len(receipt.Deliveries) != deliveries {
		h.t.Fatalf("the post has %d deliveries, want %d", len(receipt.Deliveries), deliveries)
	}
	return receipt.Message
}

// dm opens a DM of the two agents that poll.
func (h *measuredHub) dm() parley.Draft {
	h.t.Helper()
	h.addAgent(sender.Agent, "")
	h.addAgent(receiver.Agent, "")
	m := h.post(sender, parley.Draft{Direct: []string{receiver.Agent}}, 1)
	return parley.Draft{Conversation: m.Conversation}
}

func postToOne(h *measuredHub) step {
	dm := h.dm()
	return step{do: func() { h.post(sender, dm, 1) }}
}

// tenAgents adds ten agents.
func (h *measuredHub) tenAgents() (ids []string) {
	h.t.Helper()
	for n := range 10 {
		ids = append(ids, fmt.Sprintf("agent-%d", n))
		h.addAgent(ids[n], "")
	}
	return ids
}

func postToTen(h *measuredHub) step {
	group := h.post(owner, parley.Draft{Direct: h.tenAgents()}, 10).Conversation
	return step{do: func() { h.post(owner, parley.Draft{Conversation: group}, 10) }}
}

func postInChannel(h *measuredHub) step {
	h.addAgent(sender.Agent, "")
	h.addAgent(receiver.Agent, "")
	channel := must[parley.ConversationView](h)(h.CreateConversation(ctx, owner, parley.NewConversation{
		Name: "open", With: append(h.tenAgents(), sender.Agent, receiver.Agent),
	}))
	mention := parley.Draft{Conversation: channel.ID, Content: parley.Content{Text: "@" + receiver.Agent + " "}}
	return step{do: func() { h.post(sender, mention, 1) }}
}

// take takes all deliveries that are ready for the receiver and requires that there are n.
func (h *measuredHub) take(n int) parley.Taken {
	h.t.Helper()
	taken := must[parley.Taken](h)(h.Take(ctx, receiver, parley.Take{Limit: n + 1}))
	if len(taken.Deliveries) != n {
		h.t.Fatalf("took %d deliveries, want %d", len(taken.Deliveries), n)
	}
	return taken
}

func (h *measuredHub) ack(taken parley.Taken) {
	h.t.Helper()
	var ids []string
	for _, d := range taken.Deliveries {
		ids = append(ids, d.Message)
	}
	must[[]parley.Delivery](h)(h.Ack(ctx, receiver, taken.Lease, ids...))
}

// fill empties the receiver's inbox and returns a function that posts n messages to the receiver.
func (h *measuredHub) fill(n int) func() {
	h.t.Helper()
	dm := h.dm()
	h.ack(h.take(1))
	return func() {
		for range n {
			h.post(sender, dm, 1)
		}
	}
}

func takeMessages(n int) func(*measuredHub) step {
	return func(h *measuredHub) step {
		var taken parley.Taken
		return step{
			before: h.fill(n),
			do:     func() { taken = h.take(n) },
			after:  func() { h.ack(taken) },
		}
	}
}

func ackMessages(n int) func(*measuredHub) step {
	return func(h *measuredHub) step {
		var taken parley.Taken
		fill := h.fill(n)
		return step{
			before: func() {
				fill()
				taken = h.take(n)
			},
			do: func() { h.ack(taken) },
		}
	}
}

// nextRun starts the next run of the worker. The test ends if there is none.
func (h *measuredHub) nextRun() *hub.Assignment {
	h.t.Helper()
	run := must[*hub.Assignment](h)(h.NextRun(ctx, worker, hub.RunOptions{Node: "node"}))
	if run == nil {
		h.t.Fatal("there is no next run")
	}
	return run
}

func (h *measuredHub) startRun(run *hub.Assignment) {
	h.t.Helper()
	must[parley.RunContext](h)(h.RunContext(ctx, run.Run.ID))
	h.ok(h.BeginRun(ctx, run.Run.ID, parley.Process{}))
}

func (h *measuredHub) endRun(run *hub.Assignment) {
	h.t.Helper()
	ended := must[parley.Run](h)(h.FinishRun(ctx, run.Run.ID, parley.Result{Text: body}, nil))
	if ended.State != parley.RunSucceeded || ended.Answer == "" {
		h.t.Fatalf("the run is %s and its answer is %q", ended.State, ended.Answer)
	}
}

// mention adds the worker and returns a function that mentions it in a channel.
func (h *measuredHub) mention() func() {
	h.t.Helper()
	h.addAgent(worker, parley.RuntimeScript)
	channel := must[parley.ConversationView](h)(h.CreateConversation(ctx, owner, parley.NewConversation{Name: "open", With: []string{worker}}))
	return func() {
		h.post(owner, parley.Draft{Conversation: channel.ID, Content: parley.Content{Text: "@" + worker + " "}}, 1)
	}
}

func nextRun(h *measuredHub) step {
	var run *hub.Assignment
	return step{
		before: h.mention(),
		do:     func() { run = h.nextRun() },
		after: func() {
			h.startRun(run)
			h.endRun(run)
		},
	}
}

func runStart(h *measuredHub) step {
	var run *hub.Assignment
	mention := h.mention()
	return step{
		before: func() {
			mention()
			run = h.nextRun()
		},
		do:    func() { h.startRun(run) },
		after: func() { h.endRun(run) },
	}
}

func runEnd(h *measuredHub) step {
	var run *hub.Assignment
	mention := h.mention()
	return step{
		before: func() {
			mention()
			run = h.nextRun()
			h.startRun(run)
		},
		do: func() { h.endRun(run) },
	}
}

// ask is a whole ask. The worker answers before the hub begins to wait, so that the order of events is always the same.
func ask(h *measuredHub) step {
	h.addAgent(worker, parley.RuntimeScript)
	answer := func(parley.Contacted, time.Duration) {
		run := h.nextRun()
		h.startRun(run)
		h.endRun(run)
	}
	return step{do: func() {
		contacted := must[parley.Contacted](h)(h.ContactTelling(ctx, owner, parley.Contact{Pattern: parley.PatternAsk, Agent: worker, Message: body}, answer))
		if contacted.Outcome != parley.ContactAnswered {
			h.t.Fatalf("the ask is %s", contacted.Outcome)
		}
	}}
}

func (h *measuredHub) delegate() {
	h.t.Helper()
	must[parley.Contacted](h)(h.Contact(ctx, sender, parley.Contact{Pattern: parley.PatternDelegate, Agent: worker, Message: body}))
}

func delegate(h *measuredHub) step {
	h.addAgent(sender.Agent, "")
	h.addAgent(worker, parley.RuntimeScript)
	return step{
		do: h.delegate,
		after: func() {
			run := h.nextRun()
			h.startRun(run)
			h.endRun(run)
		},
	}
}

func callback(h *measuredHub) step {
	var run *hub.Assignment
	h.addAgent(sender.Agent, "")
	h.addAgent(worker, parley.RuntimeScript)
	return step{
		before: func() {
			h.delegate()
			run = h.nextRun()
			h.startRun(run)
		},
		do: func() { h.endRun(run) },
		after: func() {
			taken := must[parley.Taken](h)(h.Take(ctx, sender, parley.Take{}))
			if len(taken.Messages) != 1 || taken.Deliveries[0].Purpose != parley.PurposeCallback {
				h.t.Fatalf("there is no callback, but %+v", taken.Deliveries)
			}
			must[[]parley.Delivery](h)(h.Ack(ctx, sender, taken.Lease, taken.Messages[0].ID))
		},
	}
}

func history(h *measuredHub) step {
	const page = 50
	dm := h.dm()
	for range 2 * page {
		h.post(sender, dm, 1)
	}
	return step{do: func() {
		list := must[[]parley.Message](h)(h.History(ctx, receiver, dm.Conversation, parley.Page{Limit: page}))
		if len(list) != page {
			h.t.Fatalf("the page has %d messages", len(list))
		}
	}}
}

// postWhileServing is postToOne while the hub's services run. It waits until they have handled the message.
func postWhileServing(h *measuredHub) step {
	dm := h.dm()
	h.Start(ctx)
	return step{do: func() {
		h.post(sender, dm, 1)
		synctest.Wait()
	}}
}

// postToSubscriber is postWhileServing with a subscriber of the events.
func postToSubscriber(h *measuredHub) step {
	posting := postWhileServing(h)
	newest := must[int64](h)(h.LastEvent(ctx, owner))
	subscription, err := h.Subscribe(ctx, owner, newest, parley.EventFilter{})
	h.ok(err)
	h.t.Cleanup(subscription.Close)
	next := func() {
		events, _, err := subscription.Next(ctx)
		h.ok(err)
		if len(events) == 0 || events[len(events)-1].Kind != parley.EventMessagePosted {
			h.t.Fatalf("the subscriber gets %+v", events)
		}
	}
	subscription.Nudge()
	_, _, err = subscription.Next(ctx) // from here on the hub reads events for the subscription
	h.ok(err)
	return step{do: func() {
		posting.do()
		next()
	}}
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// Each example runs against a real hub: startHub starts one in a new home. hub.Owner connects as the hub's owner, hub.Agent
// as a new agent that polls its own inbox, and hub.Script adds an agent that the hub runs by rules.

var ctx = context.Background()

// Find the hub of this user, send a message to an agent, and wait for the answer.
func Example() {
	hub := startHub()
	defer hub.Stop()
	hub.Script("arya", `[{else: [{reply: It is in the forge.}]}]`)

	options := client.Options{Socket: hub.Socket} // or what client.Find("") returns
	c, err := client.New(options)
	if err != nil {
		panic(err)
	}
	defer c.Close()

	sent, err := c.Post(ctx, parley.Draft{
		Direct:  []string{"arya"},
		Content: parley.Content{Text: "Where is the report?"},
	})
	if err != nil {
		panic(err) // a code, a sentence, and what to do next
	}
	now, err := c.Wait(ctx, sent.Message.ID, client.MaxWait)
	if err != nil {
		panic(err)
	}
	fmt.Println(now.State, now.Answers[0].Content.Text)
	// Output: answered It is in the forge.
}

// A program of the user who runs the hub connects to the hub's unix socket. It needs no token: the hub knows the user.
func ExampleNew_socket() {
	hub := startHub()
	defer hub.Stop()

	c, err := client.New(client.Options{Socket: hub.Socket})
	if err != nil {
		panic(err)
	}
	defer c.Close()

	me, err := c.Whoami(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(me.Agent.ID, me.Agent.Access)
	// Output: user owner
}

// A program on another machine, or of another user, connects over TCP with a token. The token says which agent it is.
func ExampleNew_token() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("arya")

	c, err := client.New(client.Options{URL: hub.URL, Token: hub.Token("arya")})
	if err != nil {
		panic(err)
	}
	defer c.Close()

	me, err := c.Whoami(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(me.Agent.ID, me.Scopes)
	// Output: arya [read send]
}

// Post sends a message. AwaitState waits until the recipient has answered it.
func ExampleClient_Post() {
	hub := startHub()
	defer hub.Stop()
	hub.Script("arya", `[{else: [{reply: "Hello, {{.From}}."}]}]`)
	c := hub.Owner()

	sent, err := c.Post(ctx, parley.Draft{
		Direct:  []string{"arya"},
		Content: parley.Content{Text: "Good morning!"},
	})
	if err != nil {
		panic(err)
	}
	shown, err := c.AwaitState(ctx, sent.Message.ID, parley.DeliveryAnswered, client.MaxWait)
	if err != nil {
		panic(err)
	}
	for _, delivery := range shown.Deliveries {
		answer, err := c.Message(ctx, delivery.Answer)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %s\n", delivery.Recipient, answer.Content.Text)
	}
	// Output: arya: Hello, user.
}

// A message in a channel wakes the members that it mentions. The others can read it.
func ExampleClient_Post_conversation() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("arya")
	hub.Agent("gendry")
	c := hub.Owner()

	_, err := c.CreateConversation(ctx, parley.NewConversation{Name: "forge", With: []string{"arya", "gendry"}})
	if err != nil {
		panic(err)
	}
	sent, err := c.Post(ctx, parley.Draft{
		Conversation: "#forge",
		Content:      parley.Content{Text: "@arya please review the anvil."},
	})
	if err != nil {
		panic(err)
	}
	for _, delivery := range sent.Deliveries {
		fmt.Println("woken:", delivery.Recipient)
	}

	history, err := c.History(ctx, "#forge", client.HistoryOptions{})
	if err != nil {
		panic(err)
	}
	for _, m := range history {
		fmt.Printf("%s: %s\n", m.From, m.Content.Text)
	}
	// Output:
	// woken: arya
	// user: @arya please review the anvil.
}

// A message with an idempotency key can be posted again after an error: the hub stores it once.
func ExampleClient_Post_idempotencyKey() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("arya")
	c := hub.Owner()

	draft := parley.Draft{
		Direct:         []string{"arya"},
		Content:        parley.Content{Text: "The nightly report is ready."},
		IdempotencyKey: "report-2030-01-02",
	}
	first, err := c.Post(ctx, draft)
	if err != nil {
		panic(err)
	}
	second, err := c.Post(ctx, draft)
	if err != nil {
		panic(err)
	}
	fmt.Println("duplicate:", second.Duplicate)
	fmt.Println("same message:", second.Message.ID == first.Message.ID)
	// Output:
	// duplicate: true
	// same message: true
}

// An agent that polls its own inbox takes messages under a lease and acknowledges them. If the program ends before that,
// the hub delivers the messages again.
func ExampleClient_Take() {
	hub := startHub()
	defer hub.Stop()
	arya := hub.Agent("arya")
	_, err := hub.Owner().Post(ctx, parley.Draft{Direct: []string{"arya"}, Content: parley.Content{Text: "Sharpen the sword."}})
	if err != nil {
		panic(err)
	}

	taken, err := arya.Take(ctx, parley.Take{Wait: client.MaxWait})
	if err != nil {
		panic(err)
	}
	for _, m := range taken.Messages {
		fmt.Printf("%s: %s\n", m.From, m.Content.Text)
		settled, err := arya.Ack(ctx, taken.Lease, m.ID)
		if err != nil {
			panic(err)
		}
		fmt.Println(settled[0].State)
	}
	// Output:
	// user: Sharpen the sword.
	// acked
}

// A stream of events can continue an earlier one. Events reconnects by itself. A program that was restarted gives the number
// of the last event that it has seen.
func ExampleClient_Events() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("arya")
	c := hub.Owner()
	say := func(text string) {
		_, err := c.Post(ctx, parley.Draft{Direct: []string{"arya"}, Content: parley.Content{Text: text}})
		if err != nil {
			panic(err)
		}
	}
	var last int64
	next := func(o client.EventsOptions) {
		for event, err := range c.Events(ctx, o) {
			switch {
			case err != nil:
				panic(err) // a program would log it and go on: the stream comes back
			case event.Body != nil:
				fmt.Printf("%s: %s\n", event.Kind, event.Body.Content.Text)
				last = event.Num
				return
			}
		}
	}

	say("one")
	next(client.EventsOptions{Past: true, Kinds: []string{"message.posted"}, Bodies: true})
	say("two") // while nobody reads the stream
	next(client.EventsOptions{After: last, Kinds: []string{"message.posted"}, Bodies: true})
	// Output:
	// message.posted: one
	// message.posted: two
}

// An ask waits for the answer of another agent.
func ExampleClient_Contact_ask() {
	hub := startHub()
	defer hub.Stop()
	hub.Script("gendry", `[{else: [{reply: Valyrian steel.}]}]`)
	arya := hub.Agent("arya")

	got, err := arya.Contact(ctx, parley.Contact{
		Pattern: parley.PatternAsk,
		Agent:   "gendry",
		Message: "Which steel did we use?",
		Wait:    time.Minute,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(got.Outcome)
	fmt.Println(got.Text)
	// Output:
	// answered
	// Response from gendry: Valyrian steel.
}

// Delegating makes a task. The call returns at once; Wait waits for the result, after a restart of the program too.
func ExampleClient_Contact_delegate() {
	hub := startHub()
	defer hub.Stop()
	hub.Script("gendry", `[{else: [{reply: The sword is forged.}]}]`)
	arya := hub.Agent("arya")

	made, err := arya.Contact(ctx, parley.Contact{
		Pattern: parley.PatternDelegate,
		Agent:   "gendry",
		Message: "Forge a sword.",
	})
	if err != nil {
		panic(err)
	}
	now, err := arya.Wait(ctx, made.Task, client.MaxWait)
	if err != nil {
		panic(err)
	}
	switch {
	case !now.Done: // the time is up: call Wait again
	case now.Error != nil:
		fmt.Println("failed:", now.Error.Message)
	default:
		fmt.Println(now.State, now.Text)
	}
	// Output: completed Response from gendry: The sword is forged.
}

// A rule can require an approval for the contacts of an agent. The hub holds the call until an owner decides. Then it makes
// the call.
func ExampleClient_Decide() {
	hub := startHub()
	defer hub.Stop()
	arya := hub.Agent("arya")
	hub.Agent("gendry")
	owner := hub.Owner()
	_, err := owner.Permit(ctx, parley.Permission{
		Agent: "arya", Target: "gendry", Effect: parley.EffectAllow, RequiresApproval: true,
	})
	if err != nil {
		panic(err)
	}

	_, err = arya.Contact(ctx, parley.Contact{Pattern: parley.PatternNotify, Agent: "gendry", Message: "The king is coming."})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		panic(err)
	}
	fmt.Println(held.Approval.State)

	waiting, err := owner.Approvals(ctx, client.ApprovalsOptions{State: parley.ApprovalPending, Mine: true}, client.PageRequest{})
	if err != nil {
		panic(err)
	}
	for _, approval := range waiting.Items {
		fmt.Println(approval.Summary)
		decided, err := owner.Decide(ctx, approval.ID, parley.Decision{Approve: true})
		if err != nil {
			panic(err)
		}
		fmt.Println(decided.State, "by", decided.DecidedBy)
	}
	// Output:
	// pending
	// arya wants to contact gendry:
	// Action: notify
	// Message: "The king is coming."
	//
	// [Approve] [Deny]
	// executed by user
}

// An artifact is stored once and sent by its digest.
func ExampleClient_PutArtifact() {
	hub := startHub()
	defer hub.Stop()
	arya := hub.Agent("arya")
	c := hub.Owner()

	stored, err := c.PutArtifact(ctx, strings.NewReader("steel, oil, a hammer\n"))
	if err != nil {
		panic(err)
	}
	stored.Name = "list.txt"
	_, err = c.Post(ctx, parley.Draft{
		Direct:  []string{"arya"},
		Content: parley.Content{Text: "Please buy these.", Artifacts: []parley.Artifact{stored}},
	})
	if err != nil {
		panic(err)
	}

	inbox, err := arya.Peek(ctx, 10)
	if err != nil {
		panic(err)
	}
	for _, file := range inbox.Messages[0].Content.Artifacts {
		body, err := arya.OpenArtifact(ctx, file.SHA256)
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(body) // fails if the body is not what its digest says
		if err != nil {
			panic(err)
		}
		if err := body.Close(); err != nil {
			panic(err)
		}
		fmt.Printf("%s, %d bytes: %s", file.Name, file.Size, text)
	}
	// Output: list.txt, 21 bytes: steel, oil, a hammer
}

// An error of the hub has a code, a sentence, and a suggestion. Recoverable says whether another attempt can help.
func Example_errors() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("arya")

	_, err := hub.Owner().Post(ctx, parley.Draft{Direct: []string{"ariya"}, Content: parley.Content{Text: "Hello!"}})
	if e, ok := errors.AsType[*parley.Error](err); ok {
		fmt.Println("code:", e.Code)
		fmt.Println("reason:", e.Reason)
		fmt.Println("message:", e.Message)
		fmt.Println("suggestion:", e.Suggestion)
		fmt.Println("recoverable:", e.Recoverable)
	}
	// Output:
	// code: E003
	// reason: not_found
	// message: there is no agent "ariya"
	// suggestion: did you mean arya?
	// recoverable: true
}

// Unreachable tells a hub that cannot be reached from a hub that refuses a call.
func ExampleUnreachable() {
	hub := startHub()
	c := hub.Owner()
	hub.Stop()

	_, err := c.Status(ctx)
	fmt.Println(client.Unreachable(err))
	fmt.Println(err)
	// Output:
	// true
	// E002: the hub is not running (start it with: parley up)
}

// The agent that a task is assigned to reports progress, and then the result.
func ExampleClient_UpdateTask() {
	hub := startHub()
	defer hub.Stop()
	gendry := hub.Agent("gendry")
	owner := hub.Owner()
	task, err := owner.NewTask(ctx, parley.NewTask{Assignee: "gendry", Text: "Forge ten arrowheads."})
	if err != nil {
		panic(err)
	}

	current, total := int64(4), int64(10)
	task, err = gendry.UpdateTask(ctx, task.ID, parley.TaskChange{
		Progress: &parley.TaskProgress{Current: &current, Total: &total, Message: "the fire is hot"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(task.Status, *task.Progress.Current, "of", *task.Progress.Total)

	task, err = gendry.UpdateTask(ctx, task.ID, parley.TaskChange{
		Status: parley.TaskCompleted,
		Result: &parley.TaskResult{Text: "Ten arrowheads are on the bench.", Deliverables: []string{"bench/arrowheads"}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(task.Status, task.Outcome)

	seen, err := owner.Task(ctx, task.ID)
	if err != nil {
		panic(err)
	}
	fmt.Println(seen.Result.Text)
	// Output:
	// active 4 of 10
	// completed success
	// Ten arrowheads are on the bench.
}

// A search finds words, "phrases", and fields such as from: and in:.
func ExampleClient_Search() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("arya")
	c := hub.Owner()
	for _, text := range []string{"The steel comes from Valyria.", "The coal comes from the north.", "Steel needs oil."} {
		if _, err := c.Post(ctx, parley.Draft{Direct: []string{"arya"}, Content: parley.Content{Text: text}}); err != nil {
			panic(err)
		}
	}

	found, err := c.Search(ctx, "steel from:user", client.PageRequest{})
	for err == nil && found.Behind { // the hub has not indexed the caller's last message yet
		found, err = c.Search(ctx, "steel from:user", client.PageRequest{})
	}
	if err != nil {
		panic(err)
	}
	for _, hit := range found.Items {
		fmt.Println(hit.Snippet.Text)
	}
	// Output:
	// Steel needs oil.
	// The steel comes from Valyria.
}

// All yields the items of a list, and requests page after page.
func ExampleAll() {
	hub := startHub()
	defer hub.Stop()
	hub.Agent("gendry")
	c := hub.Owner()
	for _, text := range []string{"Forge a sword.", "Forge a shield.", "Forge a helmet."} {
		if _, err := c.NewTask(ctx, parley.NewTask{Assignee: "gendry", Text: text}); err != nil {
			panic(err)
		}
	}

	open := func(ctx context.Context, from client.PageRequest) (client.Page[parley.TaskView], error) {
		return c.Tasks(ctx, client.TasksOptions{Assignee: "gendry", Open: true}, from)
	}
	for task, err := range client.All(ctx, open) {
		if err != nil {
			panic(err)
		}
		fmt.Println(task.Status, task.Title)
	}
	// Output:
	// queued Forge a helmet.
	// queued Forge a shield.
	// queued Forge a sword.
}

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

// maxInboxWait is how long one call may wait for a message, in seconds.
const maxInboxWait = 50

var checkInbox = Tool{
	Name:  "check_inbox",
	Title: "Check Inbox",
	Description: "Takes your pending messages, or with peek shows them without taking them. With wait, waits for a message. " +
		"Answer a message with reply, or acknowledge it with ack.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"peek":{"type":"boolean"},` +
		`"wait":{"type":"integer","minimum":0,"maximum":50,"description":"Seconds"},` +
		`"ack":{"type":"array","items":{"type":"string"},"maxItems":100,"description":"Messages that you have handled, like m1234"},` +
		`"sleep_until":{"type":"string","format":"date-time","description":"Puts you to sleep: no message wakes you before"}},` +
		`"additionalProperties":false}`),
	Result: json.RawMessage(`{"type":"object","properties":{"messages":{"type":"array","items":` + messageSchema + `},` +
		`"pending":{"type":"integer"},"acknowledged":{"type":"array","items":{"type":"string"}},"sleeping_until":{"type":"string"}}}`),
	call: withArguments(inbox),
}

type inboxArgs struct {
	Peek       bool      `json:"peek"`
	Wait       int       `json:"wait"`
	Ack        []string  `json:"ack"`
	SleepUntil time.Time `json:"sleep_until"`
}

// inboxData is the structured result of check_inbox.
type inboxData struct {
	Messages     []messageData `json:"messages,omitempty"`
	Pending      *int          `json:"pending,omitempty"` // of a peek: all that is in the inbox
	Acknowledged []string      `json:"acknowledged,omitempty"`
	SleepUntil   *time.Time    `json:"sleeping_until,omitempty"`
}

func (args inboxArgs) check(p Participant) error {
	switch {
	case args.Wait > 0 && p.InRun:
		return parley.Errorf(parley.BadInput, "a run cannot wait for messages: they start your next run").Suggest("end your turn")
	case args.Wait < 0 || args.Wait > maxInboxWait:
		return parley.Errorf(parley.BadInput, "wait is %d", args.Wait).Suggest("use 0 to %d seconds, or leave it out", maxInboxWait)
	case args.Wait > 0 && args.Peek:
		return parley.Errorf(parley.BadInput, "the call has both peek and wait").Suggest("leave peek out: a call that waits takes what comes")
	case args.Wait > 0 && !args.SleepUntil.IsZero():
		return parley.Errorf(parley.BadInput, "the call has both wait and sleep_until").Suggest("use one of them")
	case slices.Contains(args.Ack, ""):
		return parley.Errorf(parley.BadInput, "ack has an empty name").Suggest("name messages, like m1234")
	}
	return nil
}

// inbox acknowledges, then takes or shows messages, then puts the caller to sleep, as far as the arguments say. A call without
// arguments takes. In a run it shows instead, because the next run gets the messages.
func inbox(ctx context.Context, p Participant, args inboxArgs) (result Result, err error) {
	if err := args.check(p); err != nil {
		return result, err
	}
	var text strings.Builder
	var data inboxData
	if len(args.Ack) > 0 {
		if _, err := p.Workspace.Ack(ctx, "", args.Ack...); err != nil {
			return result, err
		}
		data.Acknowledged = args.Ack
		text.WriteString("Acknowledged " + idList(args.Ack) + ".\n")
	}
	switch {
	case args.Peek, p.InRun && len(args.Ack) == 0 && args.SleepUntil.IsZero():
		err = peek(ctx, p, &text, &data)
	case args.Wait > 0 || len(args.Ack) == 0 && args.SleepUntil.IsZero():
		err = take(ctx, p, time.Duration(args.Wait)*time.Second, &text, &data)
	}
	if err != nil {
		return result, err
	}
	if !args.SleepUntil.IsZero() {
		if err := p.Workspace.Sleep(ctx, args.SleepUntil); err != nil {
			return result, err
		}
		data.SleepUntil = &args.SleepUntil
		text.WriteString("You sleep until " + quote.Time(args.SleepUntil) + ", after this turn.\n")
	}
	return Result{text.String(), data}, nil
}

// Takes are the takes of one client session. It is safe for concurrent use.
type Takes struct {
	sure atomic.Bool // the answer to the last take came
}

// run makes a take of a session. The messages stay unseen until the answer is here, so that the next take gets them if the call ends
// before: nobody would see them as long as the session lives.
func (k *Takes) run(ctx context.Context, w parley.Workspace, t parley.Take) (parley.Taken, error) {
	t.Again = !k.sure.Swap(true)
	taken, err := w.Take(ctx, t)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		k.sure.Store(false)
		return parley.Taken{}, err
	}
	if taken.Lease != "" {
		_, _ = w.See(ctx, taken.Lease, "") // the messages are here, whatever the hub notes
	}
	return taken, nil
}

// takeFor makes a take of the participant's session. If it has none, or if the hub has ended the session and the participant does not know
// that yet, the take has a plain lease.
func takeFor(ctx context.Context, p Participant, t parley.Take) (parley.Taken, error) {
	if p.Session != "" && p.Takes != nil {
		taken, err := p.Takes.run(ctx, p.Workspace, t)
		taken.Lease = "" // the session keeps it
		if e := parley.AsError(err); e == nil || e.Reason != parley.NotFound {
			return taken, err
		}
		t.Session = ""
	}
	t.Seen = true
	return p.Workspace.Take(ctx, t)
}

// take takes pending messages. They count as seen, because the result brings them to the model.
func take(ctx context.Context, p Participant, wait time.Duration, text *strings.Builder, data *inboxData) error {
	if wait > 0 {
		p.waits("waiting for a message")
	}
	taken, err := takeFor(ctx, p, parley.Take{Limit: defaultMessages, Wait: wait, Session: p.Session})
	if err != nil {
		return err
	}
	if len(taken.Messages) == 0 {
		text.WriteString("No messages.\n")
		return nil
	}
	names := namesOf(taken.Messages, taken.Answered)
	v, err := participantsIn(ctx, p, taken.Messages, names)
	if err != nil {
		return err
	}
	for _, m := range taken.Messages {
		text.WriteString(v.ShortMessage(m, maxBytes/len(taken.Messages)))
	}
	text.WriteString(whatToDo(taken))
	data.Messages = dataOf(taken.Messages, names)
	return nil
}

// whatToDo says what the caller must do with the messages that it took, and until when if the hub gives them back to the inbox then. What
// a live session took stays with it, so Lease is empty for its takes.
func whatToDo(taken parley.Taken) string {
	asks := 0
	for _, d := range taken.Deliveries {
		if d.Purpose == parley.PurposeAsk {
			asks++
		}
	}
	if taken.Lease == "" || taken.For == 0 {
		return "Answer with reply, or acknowledge with ack.\n"
	}
	var text string
	if asks < len(taken.Messages) {
		text = fmt.Sprintf("Answer each with reply, or acknowledge it with ack, within %s, or it %s.\n", inSeconds(taken.For), fate(taken.Attempts))
	}
	if asks > 0 && taken.ForAsks > 0 {
		text += fmt.Sprintf("Answer an ask with reply within %s: it comes only once.\n", inSeconds(taken.ForAsks))
	}
	return text
}

// fate says what becomes of a message whose lease ends, if the hub delivers it this often.
func fate(attempts int) string {
	switch attempts {
	case 0:
		return "comes again"
	case 1:
		return "fails"
	default:
		return fmt.Sprintf("comes again; after %d times it fails", attempts)
	}
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }

// peek shows the newest of the messages in the inbox that fit into a result, and how many there are.
func peek(ctx context.Context, p Participant, text *strings.Builder, data *inboxData) error {
	waiting, err := p.Workspace.Peek(ctx, defaultMessages)
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "%d to answer, %d to know.\n", waiting.Waking, waiting.Quiet)
	pending := waiting.Waking + waiting.Quiet
	data.Pending = &pending
	if len(waiting.Messages) == 0 {
		return nil
	}
	messages := slices.Clone(waiting.Messages)
	slices.Reverse(messages) // the agent gets the oldest first, so the newest are left out
	names := namesOf(messages, waiting.Answered)
	v, err := participantsIn(ctx, p, messages, names)
	if err != nil {
		return err
	}
	shown, left := quoteNewest(messages, v)
	data.Messages = dataOf(messages[left:], names)
	text.WriteString(shown)
	if left > 0 {
		fmt.Fprintf(text, "(%d more)\n", left)
	}
	return nil
}

// WaitsForInbox reports whether a call waits for a message in the inbox, and does nothing else.
func WaitsForInbox(name string, raw json.RawMessage) bool {
	if name != checkInbox.Name {
		return false
	}
	args, err := decodeArguments[inboxArgs](raw)
	return err == nil && args.Wait > 0 && args.Wait <= maxInboxWait && !args.Peek && args.SleepUntil.IsZero() && len(args.Ack) == 0
}

// TakeInbox takes pending messages, and waits for one if there is none. The result has no messages if none comes.
func TakeInbox(ctx context.Context, p Participant, wait time.Duration) (result Result, some bool, err error) {
	var text strings.Builder
	var data inboxData
	err = take(ctx, p, wait, &text, &data)
	return Result{text.String(), data}, len(data.Messages) > 0, err
}

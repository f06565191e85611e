package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// answeredMessage is the JSON output of a message whose answers the command waited for.
type answeredMessage struct {
	parley.Receipt
	Answers []parley.Message `json:"answers"`
}

// awaitAnswer waits for the answers to a message and prints them. If an answer is missing at the end of the timeout, it
// returns an error with the state of the delivery.
func (a *app) awaitAnswer(ctx context.Context, c *client.Client, r parley.Receipt, timeout time.Duration) error {
	if !slices.ContainsFunc(r.Deliveries, isWaking) {
		return parley.Errorf(parley.BadInput, "the message is stored, but it wakes no participant that could answer").
			Suggest("mention an agent, or send the message to an agent")
	}
	for _, line := range deliveryLines(r) {
		a.printStderr("%s", strings.Join(line, "  "))
	}
	a.noteUnavailable(ctx, c, r, true)
	p := a.newHubRetry(timeout)
	w := waiter{app: a, client: c, deadline: p.deadline, notedAttempts: map[string]int{}}
	var got answeredMessage
	err := p.call(ctx, func() (err error) {
		got, err = w.collectAnswers(ctx, r)
		return err
	})
	switch {
	case isUnavailable(err):
		return parley.Errorf(parley.TimedOut, "the connection to the hub was lost; the message is accepted").
			Suggest("wait for the answer: %s", a.commandLine("wait", r.Message.ShortName())).From(err)
	case err != nil:
		return err
	}
	for _, d := range got.Deliveries {
		if d.Waking && d.Answer == "" {
			if d.State.Settled() || d.State == parley.DeliveryDead {
				a.markShown(ctx, c, r.Message) // the error has the text of the hub's message to the sender
			}
			if run, err := c.Run(ctx, d.Run); d.Run != "" && err == nil {
				d.Run = run.ShortName() // for the hint
			}
			return a.unansweredError(d, timeout)
		}
	}
	if err := a.printValue(got, func() { a.printAnswers(got.Answers) }); err != nil {
		return err
	}
	a.markShown(ctx, c, got.Answers...)
	return nil
}

// markShown tells the hub which messages the command printed. If the call fails, the messages stay in the inbox, which
// does no harm.
func (a *app) markShown(ctx context.Context, c *client.Client, messages ...parley.Message) {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	for part := range slices.Chunk(ids, maxMessagesPerCall) {
		_, _ = c.MarkShown(ctx, part...)
	}
}

// isWaking reports whether a delivery wakes its recipient.
func isWaking(d parley.Delivery) bool { return d.Waking }

// waiter waits for the answers to a message.
type waiter struct {
	*app
	client        *client.Client
	deadline      time.Time
	notedAttempts map[string]int // the last attempt of each recipient that was printed
}

// answerPoll is how often the waiter checks whether an answer can still come. The call that waits for an answer does
// not return when an attempt fails, or when a run ends without an answer.
const answerPoll = time.Second

// collectAnswers waits until the deliveries of a message are answered or have ended, or until the deadline. Then it
// reads the answers.
func (w waiter) collectAnswers(ctx context.Context, r parley.Receipt) (answeredMessage, error) {
	got := answeredMessage{Receipt: r, Answers: []parley.Message{}}
	for more := true; more; {
		left := max(time.Until(w.deadline), 0)
		shown, err := w.client.AwaitState(ctx, r.Message.ID, parley.DeliveryAnswered, min(left, answerPoll))
		if err != nil {
			return got, err
		}
		got.Deliveries = shown.Deliveries
		w.noteFailedAttempts(shown.Deliveries)
		more = left > 0 && slices.ContainsFunc(shown.Deliveries, func(d parley.Delivery) bool { return w.mayBeAnswered(ctx, d) })
	}
	for _, d := range got.Deliveries {
		if d.Answer == "" {
			continue
		}
		shown, err := w.client.Message(ctx, d.Answer)
		if err != nil {
			return got, err
		}
		got.Answers = append(got.Answers, shown.Message)
	}
	return got, nil
}

// mayBeAnswered reports whether an answer to a delivery may still come. A run that has ended sends none.
func (w waiter) mayBeAnswered(ctx context.Context, d parley.Delivery) bool {
	switch {
	case !d.Waking || d.AnsweredAt != nil:
		return false
	case d.State != parley.DeliveryAcked:
		return !d.State.Settled() && d.State != parley.DeliveryDead
	case d.Run == "":
		return true
	}
	run, err := w.client.Run(ctx, d.Run)
	return err != nil || run.State.Live()
}

// noteFailedAttempts prints once for each failed attempt why it failed, and that the hub retries.
func (w waiter) noteFailedAttempts(deliveries []parley.Delivery) {
	for _, d := range deliveries {
		if d.Open() && d.Failure != nil && d.Attempt > w.notedAttempts[d.Recipient] {
			w.notedAttempts[d.Recipient] = d.Attempt
			w.printStderr("note: attempt %d failed; the hub retries: %v", d.Attempt, d.Failure)
		}
	}
}

// unansweredError returns the error for a delivery without an answer. It says how far the delivery got.
func (a *app) unansweredError(d parley.Delivery, timeout time.Duration) error {
	look := a.commandLine("trace", d.ShortName())
	if d.Run != "" {
		look = a.commandLine("agent", "run", d.Run)
	}
	switch {
	case d.Failure != nil && (d.State.Settled() || d.State == parley.DeliveryDead):
		hint := strings.TrimPrefix(d.Failure.Suggestion+"; see what happened: "+look, "; ")
		return parley.Errorf(failureCode(d), "no answer: %s", d.Failure.Plain()).Suggest("%s", hint)
	case d.State == parley.DeliveryAcked && d.Run != "":
		return parley.Errorf(parley.DependencyFailed, "%s read the message and sent no answer", d.Recipient).
			Suggest("see what the run did: %s", look)
	default:
		return parley.Errorf(parley.TimedOut, "%s did not answer within %s; the message is %s", d.Recipient, timeout, d.State).
			Suggest("wait for the answer: %s", a.commandLine("wait", d.Message))
	}
}

// failureCode returns the error code of a failed delivery. Only an expired delivery has timed out.
func failureCode(d parley.Delivery) parley.Code {
	if d.State == parley.DeliveryExpired {
		return parley.TimedOut
	}
	return parley.DependencyFailed
}

// printAnswers prints the texts of answers. If there are several, it also prints the senders.
func (a *app) printAnswers(answers []parley.Message) {
	for _, m := range answers {
		if len(answers) > 1 {
			a.printWording(parley.Own(m.From+": ").Quote(m.From, m.Content.Text))
		} else {
			a.printText(messageText(m))
		}
	}
}

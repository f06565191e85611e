package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// answeredMessage is what a message that was waited for has come to.
type answeredMessage struct {
	parley.Receipt
	Answers []parley.Message `json:"answers"`
}

// awaitAnswer waits until a message is answered and prints the answers. That it was not answered in time is an
// error which says how far it has come.
func (a *app) awaitAnswer(ctx context.Context, c *client.Client, r parley.Receipt, timeout time.Duration) error {
	if !slices.ContainsFunc(r.Deliveries, isWaking) {
		return parley.Errorf(parley.BadInput, "the message is stored, but it wakes no participant that could answer").
			Suggest("mention an agent, or send the message to an agent")
	}
	for _, line := range deliveryLines(r) {
		a.say("%s", strings.Join(line, "  "))
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
				a.markShown(ctx, c, r.Message) // the error repeats what the hub has told the sender
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

// markShown tells the hub what was printed. If that fails, the messages stay in the inbox; what was printed counts.
func (a *app) markShown(ctx context.Context, c *client.Client, messages ...parley.Message) {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	for part := range slices.Chunk(ids, maxMessagesPerCall) {
		_, _ = c.MarkShown(ctx, part...)
	}
}

func isWaking(d parley.Delivery) bool { return d.Waking }

// waiter waits for the answers to a message.
type waiter struct {
	*app
	client        *client.Client
	deadline      time.Time
	notedAttempts map[string]int // failed ones of each recipient that were told of
}

// answerPoll is how often it is looked whether an answer can still come: a try that fails, or a run that ends
// without one, is nothing that a call which waits for an answer returns for.
const answerPoll = time.Second

// collectAnswers waits for the deliveries of a message to be answered or to end, until the deadline, and reads the
// answers.
func (w waiter) collectAnswers(ctx context.Context, r parley.Receipt) (answeredMessage, error) {
	got := answeredMessage{Receipt: r, Answers: []parley.Message{}}
	for more := true; more; {
		left := max(time.Until(w.deadline), 0)
		shown, err := w.client.AwaitRung(ctx, r.Message.ID, parley.DeliveryAnswered, min(left, answerPoll))
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

// mayBeAnswered says that an answer may still come: not from a run that has ended.
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

// noteFailedAttempts says once of each try that has failed why, and that there will be another.
func (w waiter) noteFailedAttempts(deliveries []parley.Delivery) {
	for _, d := range deliveries {
		if d.Open() && d.Failure != nil && d.Attempt > w.notedAttempts[d.Recipient] {
			w.notedAttempts[d.Recipient] = d.Attempt
			w.say("note: attempt %d failed; the hub retries: %v", d.Attempt, d.Failure)
		}
	}
}

// unansweredError says how far a delivery has come without an answer.
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

// failureCode is the code of a delivery that has failed: only what was not delivered in time has timed out.
func failureCode(d parley.Delivery) parley.Code {
	if d.State == parley.DeliveryExpired {
		return parley.TimedOut
	}
	return parley.DependencyFailed
}

// printAnswers prints texts; where there are several, with who wrote them.
func (a *app) printAnswers(answers []parley.Message) {
	for _, m := range answers {
		if len(answers) > 1 {
			a.printWording(parley.Own(m.From+": ").Quote(m.From, m.Content.Text))
		} else {
			a.printText(messageText(m))
		}
	}
}

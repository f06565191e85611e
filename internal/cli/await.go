package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// answered is what a message that was waited for has come to.
type answered struct {
	parley.Receipt
	Answers []parley.Message `json:"answers"`
}

// await waits until a message is answered and prints the answers. That it was not answered in time is an
// error which says how far it has come.
func (a *app) await(ctx context.Context, c *client.Client, r parley.Receipt, timeout time.Duration) error {
	if !slices.ContainsFunc(r.Deliveries, wakes) {
		return parley.Errorf(parley.BadInput, "the message is stored, but it wakes nobody who could answer it").
			Suggest("mention somebody, or send it to an agent")
	}
	for _, line := range rungs(r) {
		a.say("%s", strings.Join(line, "  "))
	}
	p := a.patient(timeout)
	var got answered
	err := p.try(ctx, func() (err error) {
		got, err = outcome(ctx, c, r, p.deadline)
		return err
	})
	switch {
	case isAway(err):
		return parley.Errorf(parley.TimedOut, "the hub went away; the message is accepted").
			Suggest("see it later: %s", a.line("trace", r.Message.ID)).From(err)
	case err != nil:
		return err
	}
	for _, d := range got.Deliveries {
		if d.Waking && d.Answer == "" {
			return a.unanswered(d, timeout)
		}
	}
	return a.one(got, func() { a.answers(got.Answers) })
}

func wakes(d parley.Delivery) bool { return d.Waking }

// outcome waits for the deliveries of a message to be answered or to end, until a deadline, and reads the
// answers.
func outcome(ctx context.Context, c *client.Client, r parley.Receipt, deadline time.Time) (answered, error) {
	got := answered{Receipt: r, Answers: []parley.Message{}}
	for more := true; more; {
		left := max(time.Until(deadline), 0)
		shown, err := c.AwaitRung(ctx, r.Message.ID, parley.DeliveryAnswered, left)
		if err != nil {
			return got, err
		}
		got.Deliveries = shown.Deliveries
		more = left > 0 && slices.ContainsFunc(shown.Deliveries, awaited)
	}
	for _, d := range got.Deliveries {
		if d.Answer == "" {
			continue
		}
		shown, err := c.Message(ctx, d.Answer)
		if err != nil {
			return got, err
		}
		got.Answers = append(got.Answers, shown.Message)
	}
	return got, nil
}

// awaited says that an answer may still come.
func awaited(d parley.Delivery) bool {
	return d.Waking && d.AnsweredAt == nil && (!d.State.Settled() || d.State == parley.DeliveryAcked)
}

// unanswered says how far a delivery has come without an answer.
func (a *app) unanswered(d parley.Delivery, timeout time.Duration) error {
	if d.Failure != nil && (d.State.Settled() || d.State == parley.DeliveryDead) {
		return parley.Errorf(parley.TimedOut, "%s did not answer: %s (%s)", d.Recipient, d.State, d.Failure.Message).
			Suggest("see what happened: %s", a.line("trace", d.Message))
	}
	return parley.Errorf(parley.TimedOut, "%s did not answer within %s; the message is %s", d.Recipient, timeout, d.State).
		Suggest("the answer will be there when it comes: %s", a.line("trace", d.Message))
}

// answers prints texts; where there are several, with who wrote them.
func (a *app) answers(answers []parley.Message) {
	for _, m := range answers {
		text := m.Content.Text
		if len(answers) > 1 {
			text = m.From + ": " + text
		}
		a.text(text)
	}
}

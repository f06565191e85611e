package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// verdict counts the outcomes of the messages that woke agents.
type verdict struct {
	done, failed int
	runs         map[parley.RunState]int
	answered     map[key]bool   // by agent and answered message, and by agent and text
	lastRun      map[key]string // by agent and conversation: the run of the last message without a failed attempt
}

// judge checks a home after runs. Exactly one successful run must have seen each message that woke an agent, or the delivery must
// have a named failure. No agent may have answered a message twice, and no run may be live.
func judge(ctx context.Context, home string, messages int) error {
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		return err
	}
	v := verdict{runs: map[parley.RunState]int{}, answered: map[key]bool{}, lastRun: map[key]string{}}
	posted := 0
	err = eachMessage(ctx, db, func(tx storage.Tx, m parley.Message) error {
		if m.From == parley.Owner {
			posted++
		}
		return v.message(tx, m)
	})
	if err == nil && posted != messages {
		err = fmt.Errorf("%d messages are there, %d were posted", posted, messages)
	}
	remaining, leftErr := unfinished(ctx, db)
	if leftErr == nil && remaining > 0 {
		leftErr = fmt.Errorf("%d deliveries and runs are not done", remaining)
	}
	err = errors.Join(err, leftErr, db.Checked(ctx), checkDeep(ctx, db), db.Close())
	fmt.Printf("%d done, %d failed; runs: %v\n", v.done, v.failed, v.runs)
	return err
}

func (v *verdict) message(tx storage.Tx, m parley.Message) error {
	if isWorker(m.From) {
		for _, answer := range []string{m.InReplyTo, m.Content.Text} {
			if answer != "" && v.answered[key{m.From, answer}] {
				return fmt.Errorf("%s has said %q twice, or answered it", m.From, answer)
			}
			v.answered[key{m.From, answer}] = true
		}
	}
	list, err := tx.Deliveries().OfMessage(m.ID)
	for _, d := range list {
		if err == nil && d.Waking && isWorker(d.Recipient) {
			err = v.delivery(tx, d)
		}
	}
	return err
}

func (v *verdict) delivery(tx storage.Tx, d parley.Delivery) error {
	runs, err := tx.Runs().WokenBy(d.Message, d.Recipient)
	if err != nil {
		return err
	}
	var succeeded []string
	for _, r := range runs {
		v.runs[r.State]++
		if r.State == parley.RunSucceeded {
			succeeded = append(succeeded, r.ID)
		} else if r.Failure == nil {
			return fmt.Errorf("run %s is %s, and nothing says why", r.ID, r.State)
		}
	}
	switch d.State {
	case parley.DeliveryAnswered, parley.DeliveryAcked:
		v.done++
		if len(succeeded) != 1 || d.Run != succeeded[0] {
			return fmt.Errorf("message %s for %s is %s in %q, and the runs that ended well are %q", d.Message, d.Recipient, d.State, d.Run, succeeded)
		}
		return v.ordered(d)
	case parley.DeliveryFailed, parley.DeliveryDead:
		v.failed++
		if len(succeeded) > 0 || d.Failure == nil {
			return fmt.Errorf("message %s for %s is %s because of %w, and the runs that ended well are %q", d.Message, d.Recipient, d.State, d.Failure, succeeded)
		}
	default:
		return fmt.Errorf("message %s for %s is %s", d.Message, d.Recipient, d.State)
	}
	return nil
}

// ordered requires that runs did the messages of a conversation in order. It ignores messages with failed attempts. It compares
// the ids of the runs, which are in the order of the runs.
func (v *verdict) ordered(d parley.Delivery) error {
	place := key{d.Recipient, d.Conversation}
	switch before := v.lastRun[place]; {
	case d.Attempt > 0:
	case d.Run < before:
		return fmt.Errorf("message %s for %s was done in run %s, and a later one before it in %s", d.Message, d.Recipient, d.Run, before)
	default:
		v.lastRun[place] = d.Run
	}
	return nil
}

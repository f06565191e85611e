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
	said         map[key]bool   // by whom, and in answer to what, or which words
	last         map[key]string // by agent and conversation: the run that had the last message, none of whose attempts has failed
}

// judge checks a home after runs. Exactly one successful run has seen each message that woke an agent, or the delivery has a
// named failure. No message was answered or called back twice, and no run is live.
func judge(ctx context.Context, home string, messages int) error {
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		return err
	}
	v := verdict{runs: map[parley.RunState]int{}, said: map[key]bool{}, last: map[key]string{}}
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
	left, leftErr := left(ctx, db)
	if leftErr == nil && left > 0 {
		leftErr = fmt.Errorf("%d deliveries and runs are not done", left)
	}
	err = errors.Join(err, leftErr, db.Checked(ctx), checkDeep(ctx, db), db.Close())
	fmt.Printf("%d done, %d failed; runs: %v\n", v.done, v.failed, v.runs)
	return err
}

func (v *verdict) message(tx storage.Tx, m parley.Message) error {
	if isWorker(m.From) {
		for _, once := range []string{m.InReplyTo, m.Content.Text} {
			if once != "" && v.said[key{m.From, once}] {
				return fmt.Errorf("%s has said %q twice, or answered it", m.From, once)
			}
			v.said[key{m.From, once}] = true
		}
	}
	list, err := tx.Deliveries().Of(m.ID)
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
	var good []string
	for _, r := range runs {
		v.runs[r.State]++
		if r.State == parley.RunSucceeded {
			good = append(good, r.ID)
		} else if r.Failure == nil {
			return fmt.Errorf("run %s is %s, and nothing says why", r.ID, r.State)
		}
	}
	switch d.State {
	case parley.DeliveryAnswered, parley.DeliveryAcked:
		v.done++
		if len(good) != 1 || d.Run != good[0] {
			return fmt.Errorf("message %s for %s is %s in %q, and the runs that ended well are %q", d.Message, d.Recipient, d.State, d.Run, good)
		}
		return v.ordered(d)
	case parley.DeliveryFailed, parley.DeliveryDead:
		v.failed++
		if len(good) > 0 || d.Failure == nil {
			return fmt.Errorf("message %s for %s is %s because of %w, and the runs that ended well are %q", d.Message, d.Recipient, d.State, d.Failure, good)
		}
	default:
		return fmt.Errorf("message %s for %s is %s", d.Message, d.Recipient, d.State)
	}
	return nil
}

// ordered requires that what no attempt has failed for was done in its order. The ids of runs are in theirs.
func (v *verdict) ordered(d parley.Delivery) error {
	where := key{d.Recipient, d.Conversation}
	switch before := v.last[where]; {
	case d.Attempt > 0:
	case d.Run < before:
		return fmt.Errorf("message %s for %s was done in run %s, and a later one before it in %s", d.Message, d.Recipient, d.Run, before)
	default:
		v.last[where] = d.Run
	}
	return nil
}

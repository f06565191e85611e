package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// subtasks is the number of subtasks of one parent.
const subtasks = 1_000

// measureContacts measures how long an ask, a delegation, and many subtasks of one parent take. The agents follow scripts.
func measureContacts(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	scripted, err := newScriptedHub(ctx, onSQLite(), scriptAgents)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scripted.close()) }()
	var asked, delegated, posted []time.Duration
	for range rounds {
		for _, m := range []struct {
			into *[]time.Duration
			do   func() ([]time.Duration, error)
		}{
			{&asked, func() ([]time.Duration, error) { return scripted.contact(ctx, length, parley.PatternAsk) }},
			{&posted, func() ([]time.Duration, error) { return scripted.postTwice(ctx, length/2) }},
			{&delegated, func() ([]time.Duration, error) { return scripted.contact(ctx, length, parley.PatternDelegate) }},
		} {
			times, err := m.do()
			if err != nil {
				return nil, err
			}
			*m.into = append(*m.into, times...)
		}
	}
	total, err := scripted.subtasks(ctx)
	slices.Sort(posted)
	twoPosts, oneDelegation := posted[len(posted)/2], medianTime(delegated)
	each := total / subtasks
	return []result{
		atMost(3, against("ask and inline answer through a script agent, p50, against two posts", asked, twoPosts)),
		atMost(5, against("delegation until its callback is stored, p50, against two posts", delegated, twoPosts)),
		atMost(1, result{
			What: "each of 1,000 subtasks under one parent, against one delegation alone", Ratio: float64(each) / float64(oneDelegation),
			Parley: fmt.Sprintf("%s (%.0f/s)", each.Round(10*time.Microsecond), float64(subtasks)/total.Seconds()), Baseline: oneDelegation.Round(10 * time.Microsecond).String(),
		}),
	}, err
}

func medianTime(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func against(what string, times []time.Duration, baseline time.Duration) result {
	p50 := medianTime(times)
	return result{
		What: what, Ratio: float64(p50) / float64(baseline), Baseline: baseline.Round(10 * time.Microsecond).String(),
		Parley: fmt.Sprintf("%s (p99 %s)", p50.Round(10*time.Microsecond), times[len(times)*99/100].Round(10*time.Microsecond)),
	}
}

// contact makes contacts with the agents in turn, one at a time. It waits for each answer or result.
func (c *scriptedHub) contact(ctx context.Context, length time.Duration, pattern parley.Pattern) ([]time.Duration, error) {
	return timed(length, func(n int) error {
		contacted, err := c.hub.Contact(ctx, c.owner, parley.Contact{Pattern: pattern, Agent: agentName(n % scriptAgents), Message: body, Wait: maxWait})
		if err == nil && contacted.Outcome != parley.ContactAnswered {
			err = fmt.Errorf("a contact is %s: %s", contacted.Outcome, contacted.Text)
		}
		return err
	})
}

// subtasks makes many subtasks of one parent, for all agents in turn, and waits until all are completed.
func (c *scriptedHub) subtasks(ctx context.Context) (time.Duration, error) {
	parent, err := c.hub.NewTask(ctx, c.owner, parley.NewTask{Text: "many things"})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for n := range subtasks {
		if _, err := c.hub.NewTask(ctx, c.owner, parley.NewTask{Text: body, Parent: parent.ID, Assignee: agentName(n % scriptAgents)}); err != nil {
			return 0, err
		}
	}
	for {
		view, err := c.hub.Task(ctx, c.owner, parent.ID)
		if err != nil || len(view.WaitsOn.Subtasks) == 0 {
			return time.Since(began), err
		}
		if time.Since(began) > maxWait {
			return 0, fmt.Errorf("%d of %d subtasks are open", len(view.WaitsOn.Subtasks), subtasks)
		}
		time.Sleep(50 * time.Millisecond) // reading so many tasks takes time too
	}
}

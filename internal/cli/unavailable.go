package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// noteUnavailable prints for each woken recipient why it does not start now. It is usual that a polling agent is away,
// so it says that only to a caller who waits.
func (a *app) noteUnavailable(ctx context.Context, c *client.Client, r parley.Receipt, waits bool) {
	if !slices.ContainsFunc(r.Deliveries, isWaking) {
		return
	}
	present, err := c.Who(ctx)
	if err != nil {
		return // the message is stored anyway
	}
	for _, d := range r.Deliveries {
		i := slices.IndexFunc(present, func(p parley.Presence) bool { return p.ID == d.Recipient })
		if !d.Waking || i < 0 || present[i].Reason == parley.ReasonAway && !waits {
			continue
		}
		if why := a.unavailableText(present[i]); why != "" {
			a.printStderr("note: %s", why)
		}
	}
}

// unavailableText returns why an agent does not start work now, and what can be done about it. It returns nothing for
// all others.
func (a *app) unavailableText(p parley.Presence) string {
	why := cmp.Or(statusReason(p), p.Status)
	var next string
	switch {
	case p.Kind != parley.KindAgent:
		return ""
	case p.Reason == parley.ReasonStopped:
		next = "start it: " + a.commandLine("agent", "start", p.ID)
	case p.Reason == parley.ReasonPaused:
		next = "resume it: " + a.commandLine("agent", "resume", p.ID)
	case p.Reason == parley.ReasonOverBudget:
		next = "raise its budget: " + a.commandLine("agent", "set", p.ID, "--help")
	case p.Reason == parley.ReasonAway:
		next = "the agent polls its inbox itself when it is back"
	case p.Status == parley.StatusSleeping:
		why, next = a.statusText(p.Status, "", p.SleepingUntil), "wake it: "+a.commandLine("agent", "wake", p.ID)
	default:
		return ""
	}
	return p.ID + " is " + why + "; the message stays pending (" + next + ")"
}

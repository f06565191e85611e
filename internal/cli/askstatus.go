package cli

import (
	"context"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// lastEvent returns the number of the hub's newest event. It returns 0 without a terminal, or if the hub does not
// answer.
func (a *app) lastEvent(ctx context.Context, c *client.Client) int64 {
	if !isTerminal(a.err) {
		return 0
	}
	now, err := c.Status(ctx)
	if err != nil {
		return 0 // the call that follows returns the error
	}
	return now.LastEvent
}

// showAsking shows on a terminal that the command waits for an agent. If it gets the id of the question, it also shows
// the statuses that the agent posted to that question after an event. Call stop to end it.
func (a *app) showAsking(ctx context.Context, c *client.Client, agent, question string, after int64) (stop func()) {
	if !isTerminal(a.err) {
		return func() {}
	}
	tell, shown := a.showSteps(ctx, "waiting for "+agent)
	if question == "" || after == 0 {
		return shown
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { followStatus(ctx, c, question, after, tell) })
	return func() {
		cancel()
		following.Wait()
		shown()
	}
}

// followStatus passes the statuses posted to a question to tell. It ignores errors, because the call waits anyway.
func followStatus(ctx context.Context, c *client.Client, question string, after int64, tell func(string)) {
	for e, err := range c.Events(ctx, client.EventsOptions{After: after, Kinds: []string{string(parley.EventMessagePosted)}, Bodies: true}) {
		if err == nil && e.Body != nil && isStatusOf(*e.Body, question) {
			tell(e.Body.From + ": " + oneLine(e.Body.Content.Text))
		}
	}
}

// isStatusOf reports whether a message is a status that an asked agent posted to a question before its answer. The same
// caller may have asked other agents at the same time.
func isStatusOf(m parley.Message, question string) bool {
	return m.Type == parley.TypeStatus && m.InReplyTo == question && m.Task != ""
}

package cli

import (
	"context"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// asking shows on a terminal that the command waits for an agent, and the statuses that the agent posts before its answer.
// Call stop to end it.
func (a *app) asking(ctx context.Context, c *client.Client, agent string) (stop func()) {
	if !isTerminal(a.err) {
		return func() {}
	}
	tell, shown := a.watching(ctx, "waiting for "+agent)
	now, err := c.Status(ctx)
	if err != nil {
		return shown // the call itself says what is wrong
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { followStatus(ctx, c, now.LastEvent, tell) })
	return func() {
		cancel()
		following.Wait()
		shown()
	}
}

// followStatus passes on the statuses that others post for the caller. Errors are ignored: the call waits all the same.
func followStatus(ctx context.Context, c *client.Client, after int64, tell func(string)) {
	me, err := c.Whoami(ctx)
	if err != nil {
		return
	}
	for e, err := range c.Events(ctx, client.EventsOptions{After: after, Kinds: []string{string(parley.EventMessagePosted)}, Bodies: true}) {
		if err == nil && e.Body != nil && isStatusFor(*e.Body, me.Agent.ID) {
			tell(e.Body.From + ": " + oneLine(e.Body.Content.Text))
		}
	}
}

// isStatusFor reports whether a message is a status that an asked agent posts for the asker before its answer.
func isStatusFor(m parley.Message, asker string) bool {
	return m.Type == parley.TypeStatus && m.To == asker && m.InReplyTo != "" && m.Task != ""
}

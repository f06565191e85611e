package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/top"
)

func (a *app) whoCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "who",
		Short:   "List agents and people, and what they are doing",
		Example: "  parley who\n  parley who -o json",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			present, err := c.Who(ctx)
			if err != nil {
				return err
			}
			titles := newConversationTitles(c)
			return printList(a, present,
				column[parley.Presence]{"id", func(p parley.Presence) string { return p.ID }},
				column[parley.Presence]{"name", func(p parley.Presence) string { return p.Name }},
				column[parley.Presence]{"kind", func(p parley.Presence) string { return kindText(p.Kind, p.Access) }},
				column[parley.Presence]{"status", func(p parley.Presence) string { return a.statusText(p.Status, statusReason(p), p.SleepingUntil) }},
				column[parley.Presence]{"works on", func(p parley.Presence) string { return titles.workText(ctx, p.Work) }},
				column[parley.Presence]{"awaits", func(p parley.Presence) string { return top.AwaitedText(p.Awaiting) }},
				column[parley.Presence]{"runtime", func(p parley.Presence) string { return p.Runtime }},
				column[parley.Presence]{"clients", clientsText},
				column[parley.Presence]{"inbox", inboxText},
				column[parley.Presence]{"health", func(p parley.Presence) string { return healthText(p.Health) }},
				column[parley.Presence]{"last seen", func(p parley.Presence) string { return a.formatLastSeen(p.LastSeen) }},
				column[parley.Presence]{"role", func(p parley.Presence) string { return p.Role }},
			)
		}),
	}
}

// statusReason returns why a participant is halted or away, with the note about it.
func statusReason(p parley.Presence) string {
	if p.Note == "" {
		return p.Reason
	}
	return strings.TrimPrefix(p.Reason+": "+p.Note, ": ")
}

// inboxText returns how many deliveries an inbox has: those that need work, and quiet ones.
func inboxText(p parley.Presence) string {
	due := p.Inbox.Waking + p.Inbox.Work
	if p.Inbox.Quiet == 0 {
		return strconv.Itoa(due)
	}
	return fmt.Sprintf("%d (+%d quiet)", due, p.Inbox.Quiet)
}

// clientText describes the client that makes the caller an agent.
func clientText(c *parley.ClientProcess) string {
	switch {
	case c == nil:
		return ""
	case c.Program == "":
		return fmt.Sprintf("this command descends from process %d, which connected as %s", c.PID, c.Agent)
	default:
		return fmt.Sprintf("this command descends from process %d (%s), which connected as %s", c.PID, c.Program, c.Agent)
	}
}

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "whoami",
		Short:   "Show your identity and your rights at the hub",
		Example: "  parley whoami\n  PARLEY_TOKEN=parley_… parley whoami -o json",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			me, err := c.Whoami(ctx)
			if err != nil {
				return err
			}
			return a.printValue(me, func() {
				a.printFields("agent", me.Agent.ID, "name", me.Agent.Name, "kind", kindText(me.Agent.Kind, me.Agent.Access), "by", me.By,
					"scopes", scopeText(me.Scopes), "client", clientText(me.Client), "token", me.Token, "expires", a.formatOptionalTime(me.ExpiresAt))
			})
		}),
	}
}

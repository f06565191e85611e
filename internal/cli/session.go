package cli

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) sessionCommand() *cobra.Command {
	cmd := a.parentCommand("session", "List the client sessions that are connected to the hub", a.sessionListCommand())
	cmd.Long = `List the client sessions that are connected to the hub.

A session is a live connection of an agent or a person: an agent client that "parley mcp" serves, a hook that waits for mail,
"parley chat" or "parley watch". What an agent takes with a session is leased to the session. If the session ends, the hub
gives back within 5 seconds what it has not settled.`
	return cmd
}

func (a *app) sessionListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List live client sessions, the oldest first",
		Example: "  parley session list",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := c.Sessions(ctx)
			if err != nil {
				return err
			}
			for _, s := range list {
				if isBeforeFirstTurn(s, list) {
					a.printStderr("note: OpenCode wakes %s only after its first turn", s.Agent)
				}
			}
			return printList(a, list,
				column[parley.Session]{"session", func(s parley.Session) string { return s.Key }},
				column[parley.Session]{"agent", func(s parley.Session) string { return s.Agent }},
				column[parley.Session]{"client", func(s parley.Session) string { return s.Client }},
				column[parley.Session]{"kind", func(s parley.Session) string { return string(s.Kind) }},
				column[parley.Session]{"woken by", func(s parley.Session) string { return string(s.Wake) }},
				column[parley.Session]{"holds", func(s parley.Session) string { return strconv.Itoa(s.Held) }},
				column[parley.Session]{"since", func(s parley.Session) string { return a.formatTime(s.Since) }},
				column[parley.Session]{"last sign", func(s parley.Session) string { return a.formatTime(s.LastSign) }},
			)
		}),
	}
}

// clientsText lists the clients of a participant's sessions, and how they are woken.
func clientsText(p parley.Presence) string {
	var names []string
	for _, s := range p.Sessions {
		name := s.Client
		if name == "" {
			name = s.Key
		}
		if s.Wake != parley.WakeNone {
			name += " (woken by " + string(s.Wake) + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// randomSessionKey returns a key that no other session has.
func randomSessionKey(kind string) string { return kind + "-" + strings.ToLower(rand.Text()[:8]) }

// openSession opens a client session for a command that runs until it is interrupted, and returns the function that ends it. The
// command does its work without one too, for example if an owner acts as another participant.
func (a *app) openSession(ctx context.Context, c *client.Client, kind parley.SessionKind) (leave func()) {
	session, err := c.OpenSession(ctx, parley.NewSession{Key: randomSessionKey(string(kind)), Client: "parley " + parley.Version, Kind: kind})
	if err != nil {
		return func() {}
	}
	return func() { _ = session.Close() } // the process ends, and its session with it
}

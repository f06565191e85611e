package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect"
	"github.com/parley-hub/parley/internal/home"
)

func (a *app) disconnectCommand() *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:   "disconnect CLIENT",
		Short: "Disconnect a client: restore its files, and revoke its token",
		Long: `Disconnect a client that "parley connect" has connected, in the directory of its configuration that the environment names.

A file that nobody has edited since then gets back all its bytes. From a file that somebody has edited, the command takes out only
what Parley has added. The token of the agent is revoked, unless another client is connected as the same agent. The agent itself,
with its messages, stays.`,
		Example: `  parley disconnect claude
  parley disconnect codex --project`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(completeWords(connect.Names()...), completeNothing),
	}
	cmd.Flags().BoolVar(&project, "project", false, "restore the files of the project in the current directory")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, setup, err := a.findSetup(args[0], project)
		if err != nil {
			return err
		}
		known, err := connect.Load(dir, setup)
		if err != nil {
			return err
		}
		if known == nil {
			return a.noteNotConnected(dir, setup)
		}
		return a.disconnect(cmd.Context(), dir, *known)
	}
	return cmd
}

// noteNotConnected says that a client is not connected at a place, and where it is.
func (a *app) noteNotConnected(dir home.Dir, s connect.Setup) error {
	here := s.Connection()
	list, err := connect.List(dir)
	if err != nil {
		return err
	}
	a.printStderr("%s is not connected; nothing was changed", connectionTitle(here))
	a.noteOthers(here, list)
	return nil
}

// disconnected is what disconnect prints.
type disconnected struct {
	Client  string   `json:"client"`
	Agent   string   `json:"agent"`
	Files   []string `json:"files"`
	Revoked bool     `json:"revoked"`
}

func (a *app) disconnect(ctx context.Context, dir home.Dir, c connect.Connection) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	files, err := connect.Disconnect(c, m, dir)
	if err != nil {
		return err // the client still needs the token
	}
	revoked, err := a.dropToken(ctx, dir, c)
	if err != nil {
		return err
	}
	list, err := connect.List(dir)
	if err != nil {
		return err
	}
	a.noteOthers(c, list)
	done := disconnected{Client: c.Client, Agent: c.Agent, Files: append([]string{}, files...), Revoked: revoked}
	return a.printDone(done, "disconnected", c.Client, c.Agent)
}

// dropToken revokes the token of the agent and removes it from the home, unless another client is connected as the agent. If the hub
// cannot be reached, the secret is removed all the same, and a note says how to revoke the token.
func (a *app) dropToken(ctx context.Context, dir home.Dir, c connect.Connection) (revoked bool, err error) {
	others, err := connect.List(dir)
	if err != nil {
		return false, err
	}
	if isAgentElsewhere(c, others) {
		a.printStderr("another client is connected as %s, so its token stays valid", c.Agent)
		return false, nil
	}
	id := c.Token
	called, err := a.hubName(dir)
	if err != nil {
		return false, err
	}
	if stored, err := dir.AgentToken(c.Agent); err == nil {
		if id = stored.Token; stored.Hub != called {
			a.printStderr("the token is removed from this home, but it is for %s; revoke it there: %s", hubTitle(stored.Hub, string(dir)),
				revokeLine(dir, stored))
			return false, dir.RemoveAgentToken(c.Agent)
		}
	}
	revoked = a.revokeToken(ctx, id)
	return revoked, dir.RemoveAgentToken(c.Agent)
}

// revokeLine returns the line for a shell that revokes a stored token at its hub, wherever the shell's environment leads.
func revokeLine(dir home.Dir, t home.AgentToken) string {
	if t.Hub == "" {
		return "parley --home " + connect.ShellQuote(string(dir)) + " token revoke " + t.Token
	}
	return "PARLEY_URL=" + connect.ShellQuote(t.Hub) + " parley token revoke " + t.Token
}

func (a *app) revokeToken(ctx context.Context, id string) bool {
	hub, err := a.newClient()
	if err == nil {
		defer hub.Close()
		err = hub.RevokeToken(ctx, id)
	}
	if err == nil || parley.AsError(err).Reason == parley.NotFound {
		return true // or somebody has removed its agent
	}
	a.printStderr("the token is removed from this home, but the hub could not revoke it (%v); revoke it later: %s", err, a.commandLine("token", "revoke", id))
	return false
}

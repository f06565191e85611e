package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect"
)

func (a *app) runCommand() *cobra.Command {
	var flags connectFlags
	cmd := &cobra.Command{
		Use:   "run CLIENT [-- ARGUMENT…]",
		Short: "Start a connected client in this terminal",
		Long: `Start a client in this terminal, with the arguments after --. If the client is not connected yet, or not as this agent, the
command connects it first and asks, as "parley connect" does. If another directory of the client's configuration is connected as
this agent, the client starts with that one.`,
		Example: `  parley run claude --name ana
  parley run codex -- --model gpt-5`,
		Args:              argCount(1, -1),
		ValidArgsFunction: completeArgs(completeWords(connect.Names()...), completeNothing),
	}
	cmd.Flags().StringVar(&flags.name, "name", "", "`agent` that the client acts as (default: the agent as before, or the name of the client)")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask for confirmation")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := requireNonEmpty(cmd, "name"); err != nil {
			return err
		}
		flags.elsewhere = true
		c, err := a.newConnecting(cmd, args[0], flags)
		if err != nil {
			return err
		}
		defer c.close()
		return c.start(cmd.Context(), args[1:])
	}
	return cmd
}

// start connects the client if it is not, and replaces this process by the client.
func (c *connecting) start(ctx context.Context, args []string) error {
	client := c.setup.Client
	program := c.setup.Machine.ProgramOf(client)
	if program == "" {
		return parley.Errorf(parley.Unavailable, "there is no program %s in your PATH", client.Programs[0]).Suggest("%s", client.Install)
	}
	ready, err := c.isReady()
	if err == nil && !ready {
		_, err = c.connect(ctx)
	}
	if err != nil {
		return err
	}
	c.close()
	if c.setup.Dir != "" {
		if err := os.Setenv(client.Variable, c.setup.Dir); err != nil {
			return err
		}
	}
	return replaceProcess(program, args)
}

// isReady reports whether the client is connected as the agent. It does not ask the hub, so that a client starts without one too.
func (c *connecting) isReady() (bool, error) {
	if c.known == nil || c.known.Agent != c.setup.Agent {
		return false, nil
	}
	stored, err := c.home.AgentToken(c.known.Agent)
	if err != nil || stored.Hub != c.hub.name && c.hub.name != "" { // without PARLEY_URL, the client finds the hub of the token
		return false, nil //nolint:nilerr // connect stores a token
	}
	missing, err := c.known.Missing(c.setup.Machine)
	return len(missing) == 0, err
}

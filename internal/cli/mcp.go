package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/mcpapi"
	"github.com/parley-hub/parley/internal/peer"
)

func (a *app) mcpCommand() *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent client by the Model Context Protocol, on standard input and output",
		Long: `Serve an agent client by the Model Context Protocol, on standard input and output. Clients start this command themselves;
"parley connect" registers it with them.

The client acts as the agent that --agent names, with the token that "parley connect" has stored for it. The token goes only to the
hub with which the client was connected. Without --agent, it needs a token in PARLEY_TOKEN. In a run of the hub, the client is the
agent of the run. No model acts as you by mistake: only --as user gives it your own rights. The command starts no hub. While no
hub runs, each call says how to start one.`,
		Example: `  parley mcp --agent ana
  PARLEY_TOKEN=parley_… PARLEY_URL=https://hub.example.org parley mcp
  parley mcp --as user`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&agent, "agent", "", "act as this connected `agent`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if isTerminal(a.in) {
			a.printStderr("note: this command speaks MCP with an agent client, which starts it; to register it with one: %s", a.commandLine("connect", "claude"))
		}
		c, err := a.clientAs(agent, "mcp")
		if err != nil {
			return err
		}
		defer c.Close()
		identify := func(ctx context.Context) (mcpapi.Caller, error) { return a.mcpCaller(ctx, c) }
		err = mcpapi.ServeStream(cmd.Context(), io.NopCloser(a.in), a.out, identify, mcpSession(peer.OwnClient()), mcpapi.Options{})
		if cmd.Context().Err() != nil {
			return nil // the client has ended the command by a signal
		}
		return err
	}
	return cmd
}

// clientAs returns a client with the stored token of a connected agent. A process of a run keeps the credential of its run, so that a
// client that the hub starts never acts as another agent. With "", the environment decides, see mustBeSomebody.
func (a *app) clientAs(agent, source string) (*client.Client, error) {
	if err := a.mustBeSomebody(agent); err != nil {
		return nil, err
	}
	options, err := client.Find(a.home)
	if err != nil {
		return nil, err
	}
	options.As, options.Source, options.OfClient = a.as, source, true
	if agent != "" && os.Getenv("PARLEY_RUN") == "" {
		dir, err := client.Home(a.home)
		if err != nil {
			return nil, err
		}
		if err := useAgentToken(&options, dir, agent); err != nil {
			return nil, err
		}
	}
	return client.New(options)
}

// mustBeSomebody refuses a command of a client that would act as the owner of the socket only because its configuration names nobody,
// or an empty variable. Then a model would have the rights of the owner.
func (a *app) mustBeSomebody(agent string) error {
	inRun := os.Getenv("PARLEY_RUN") != ""
	token, given := os.LookupEnv("PARLEY_TOKEN")
	nobody := "nothing says which agent the client is"
	switch {
	case token != "", agent != "" && !inRun:
		return nil
	case given:
		nobody = "PARLEY_TOKEN is empty"
	case inRun, a.as != "":
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "%s", nobody).Because(parley.Unauthenticated).
		Suggest("connect it: parley connect CLIENT; or set PARLEY_TOKEN; or, to act as yourself, unset PARLEY_TOKEN and add --as user")
}

// mcpCaller returns the caller of the tools: the participant that the credential belongs to.
func (a *app) mcpCaller(ctx context.Context, c *client.Client) (mcpapi.Caller, error) {
	run := os.Getenv("PARLEY_RUN")
	me, err := c.Whoami(ctx)
	if err != nil {
		return mcpapi.Caller{Workspace: c.Workspace("", run)}, err
	}
	return mcpapi.Caller{
		ID: me.Agent.ID, Workspace: c.Workspace(me.Agent.ID, run), InRun: run != "", Principal: me.Agent.UUID + "/" + me.By,
	}, nil
}

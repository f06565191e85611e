package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
)

// rootFor returns the root command of a program that was called by a name: parley itself, or a command that scripts
// know as a program of its own.
func (a *app) rootFor(program string) *cobra.Command {
	name := strings.TrimSuffix(program, ".py")
	make, isCommand := map[string]func() *cobra.Command{
		"send-message": a.sendMessageCommand, "who": a.whoCommand, "blackboard": a.blackboardCommand,
	}[name]
	if !isCommand {
		return a.newRoot()
	}
	a.program = program
	root := make()
	root.CompletionOptions.DisableDefaultCmd = true
	a.configureRoot(root)
	renameProgram(root, name, program)
	return root
}

// renameProgram makes the help of a command and its subcommands name the program as it was called.
func renameProgram(cmd *cobra.Command, name, program string) {
	if !cmd.HasParent() {
		cmd.Use = program + strings.TrimPrefix(cmd.Use, name)
	}
	cmd.Example = strings.ReplaceAll(cmd.Example, programName+" "+name, program)
	for _, below := range cmd.Commands() {
		renameProgram(below, name, program)
	}
}

// newClientAs returns a client that acts as an agent: the caller's own if the caller is that agent, or else that of an
// owner who acts as it.
func (a *app) newClientAs(ctx context.Context, agent string) (*client.Client, error) {
	c, err := a.newClient()
	if err != nil {
		return nil, err
	}
	me, err := c.Whoami(ctx)
	if err != nil {
		c.Close()
		return nil, err
	}
	if strings.EqualFold(agent, me.Agent.ID) || strings.EqualFold(agent, me.Agent.Name) {
		return c, nil
	}
	c.Close()
	a.as = agent
	return a.newClient()
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
)

// rootFor is the uppermost command of a program that was called by a name: parley itself, or one of the commands that scripts
// know as programs of their own.
func (a *app) rootFor(program string) *cobra.Command {
	name := strings.TrimSuffix(program, ".py")
	make, own := map[string]func() *cobra.Command{
		"send-message": a.sendMessageCommand, "who": a.whoCommand, "blackboard": a.blackboardCommand,
	}[name]
	if !own {
		return a.root()
	}
	a.program = program
	root := make()
	root.CompletionOptions.DisableDefaultCmd = true
	a.configureRoot(root)
	renameProgram(root, name, program)
	return root
}

// renameProgram lets the help of commands name the program as it was called.
func renameProgram(cmd *cobra.Command, name, program string) {
	if !cmd.HasParent() {
		cmd.Use = program + strings.TrimPrefix(cmd.Use, name)
	}
	cmd.Example = strings.ReplaceAll(cmd.Example, programName+" "+name, program)
	for _, below := range cmd.Commands() {
		renameProgram(below, name, program)
	}
}

// newClientAs is the client of somebody: the caller itself if it is that, or else an owner who acts as it.
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

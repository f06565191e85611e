package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) agentCommand() *cobra.Command {
	return a.parentCommand("agent", "Add, change and inspect participants",
		a.agentAdd(), a.agentList(), a.agentShow(), a.agentSet(), a.agentRemove(), a.agentSleep(), a.agentWake(),
		a.agentStart(), a.agentStop(), a.agentPause(), a.agentResume(), a.agentHealth(), a.agentResumePair(),
		a.agentRuns(), a.agentRun(), a.agentCancel())
}

func (a *app) agentAdd() *cobra.Command {
	var settings agentFlags
	var human, owner, reuse bool
	cmd := &cobra.Command{
		Use:   "add ID",
		Short: "Add an agent or a person",
		Long: `Add an agent or a person. An id has 1 to 64 characters: a-z, 0-9, _ and -.

With a runtime, the hub runs the agent whenever a message wakes it. Set the runtime with --runtime; --rules, --url and
--provider imply it. Without a runtime, the agent polls its own inbox.

A removed agent keeps its id and name. With --reuse, the new agent takes the id and the name, and nothing else. The
removed agent keeps its messages, conversations, tasks and files; from then on its id is ID~removed.`,
		Example: `  parley agent add arya --role writer --skill prose --skill research
  parley agent add claude --runtime claude --dir ~/project
  parley agent add writer --provider anthropic --model claude-sonnet-4-5 --cost-per-day 5
  parley agent add echo --rules echo.yaml
  parley agent add gendry --name GendryBot --manager arya --tier worker
  parley agent add sam --human
  parley agent add arya --reuse`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			n, err := settings.newAgent(ctx, a, args[0])
			if err != nil {
				return err
			}
			if human || owner {
				n.Kind = parley.KindHuman
			}
			if owner {
				n.Access = parley.AccessOwner
			}
			n.Reuse = reuse
			added, err := c.AddAgent(ctx, n)
			if err != nil {
				return err
			}
			if reuse {
				a.printStderr("note: the files of the removed agent are in agents/%s in the hub's home; settings for %s in config.yaml apply to the new agent",
					parley.RetiredName(added.ID, 1), added.ID)
			}
			return a.printDone(added, "added", added.ID)
		}),
	}
	settings.declare(a, cmd)
	cmd.Flags().BoolVar(&human, "human", false, "add a person instead of an agent")
	cmd.Flags().BoolVar(&owner, "owner", false, "add a person with all rights")
	cmd.Flags().BoolVar(&reuse, "reuse", false, "take the id and name of a removed agent")
	return cmd
}

func (a *app) agentList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List all participants",
		Example: "  parley agent list\n  parley agent list -o json",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			agents, err := c.Agents(ctx)
			if err != nil {
				return err
			}
			return printList(a, agents,
				column[parley.Agent]{"id", func(g parley.Agent) string { return g.ID }},
				column[parley.Agent]{"name", func(g parley.Agent) string { return g.Name }},
				column[parley.Agent]{"kind", func(g parley.Agent) string { return kindText(g.Kind, g.Access) }},
				column[parley.Agent]{"role", func(g parley.Agent) string { return g.Role }},
				column[parley.Agent]{"tier", func(g parley.Agent) string { return string(g.Tier) }},
				column[parley.Agent]{"manager", func(g parley.Agent) string { return g.Manager }},
				column[parley.Agent]{"mode", func(g parley.Agent) string { return string(g.Mode) }},
				column[parley.Agent]{"runtime", func(g parley.Agent) string { return g.Runtime }},
			)
		}),
	}
}

// kindText returns the kind of a participant, or the access level of a person.
func kindText(kind parley.Kind, access parley.Access) string {
	return cmp.Or(string(access), string(kind))
}

func (a *app) agentSet() *cobra.Command {
	var settings agentFlags
	var access string
	var unset []string
	cmd := &cobra.Command{
		Use:   "set AGENT",
		Short: "Change an agent or a person",
		Example: `  parley agent set arya --role editor --context-messages 50
  parley agent set arya --model gpt-5 --runs-per-hour 30
  parley agent set arya --unset manager,tier`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	settings.declare(a, cmd)
	cmd.Flags().StringVar(&access, "access", "", "`level` of access of a person: owner or member")
	cmd.Flags().StringSliceVar(&unset, "unset", nil, "reset these `settings` to their defaults")
	completeFlag(cmd, "access", completeWords("owner", "member"))
	completeFlag(cmd, "unset", completeWords(settingNames()...))
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		change, err := settings.change(ctx, a)
		if err != nil {
			return err
		}
		if access != "" {
			change["access"] = access
		}
		if err := addUnset(cmd, change, unset); err != nil {
			return err
		}
		if err := settings.runtime.mergeConfig(ctx, c, args[0], change); err != nil {
			return err
		}
		dropNulls(change)
		changed, err := c.ChangeAgent(ctx, args[0], change)
		if err != nil {
			return err
		}
		return a.printDone(changed, "changed", changed.ID)
	})
	return cmd
}

func (a *app) agentRemove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove AGENT",
		Short:             "Remove an agent; its messages stay",
		Example:           "  parley agent remove arya\n  parley agent remove arya --yes",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(cmd, yes, "Remove "+args[0]+", revoke its tokens, and fail its open deliveries and tasks?"); err != nil {
			return err
		}
		if err := c.RemoveAgent(ctx, args[0]); err != nil {
			return err
		}
		return a.printAction("removed", args[0])
	})
	return cmd
}

func (a *app) agentSleep() *cobra.Command {
	var length time.Duration
	var until string
	cmd := &cobra.Command{
		Use:               "sleep AGENT",
		Short:             "Put an agent to sleep; its messages, except asks, stay pending until it wakes",
		Example:           "  parley agent sleep arya --for 8h\n  parley agent sleep arya --until \"2030-01-02 07:00\"",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	cmd.Flags().Var(durationFlag{&length}, "for", "how long the agent sleeps, such as 8h or 2d")
	cmd.Flags().StringVar(&until, "until", "", "`time` when the agent wakes")
	cmd.MarkFlagsMutuallyExclusive("for", "until")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if length == 0 && until == "" {
			return usagef(cmd, "say how long the agent sleeps: --for 8h or --until TIME")
		}
		end := time.Now().Add(length)
		if until != "" {
			var err error
			if end, err = parseTime(until, time.Now()); err != nil {
				return usagef(cmd, "%w", err)
			}
		}
		asleep, err := c.Sleep(ctx, args[0], end)
		if err != nil {
			return err
		}
		return a.printDone(asleep, "sleeping", asleep.ID, a.formatOptionalTime(asleep.SleepingUntil))
	})
	return cmd
}

func (a *app) agentWake() *cobra.Command {
	return &cobra.Command{
		Use:               "wake AGENT",
		Short:             "End an agent's sleep",
		Example:           "  parley agent wake arya",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			awake, err := c.Wake(ctx, args[0])
			if err != nil {
				return err
			}
			return a.printDone(awake, "awake", awake.ID)
		}),
	}
}

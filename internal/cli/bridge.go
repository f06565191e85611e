package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) bridgeCommand() *cobra.Command {
	bridge := a.parentCommand("bridge", "Connect directory trees of other systems to the hub",
		a.bridgeAdd(), a.bridgeList(), a.bridgeShow(), a.bridgePauseCommand("pause", "paused", true), a.bridgePauseCommand("resume", "resumed", false),
		a.bridgeSet(), a.bridgeRemove(), a.bridgeRun())
	bridge.Long = `Connect directory trees of other systems to the hub, in both directions. Files that scripts write to the tree become
messages. Messages to agents that live in the tree become files.`
	return bridge
}

func (a *app) bridgeList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List bridges and their state",
		Example: "  parley bridge list\n  parley bridge list -o json",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			bridges, err := c.Bridges(ctx)
			if err != nil {
				return err
			}
			return printList(a, bridges,
				column[parley.BridgeView]{"id", func(v parley.BridgeView) string { return v.ID }},
				column[parley.BridgeView]{"layout", func(v parley.BridgeView) string { return string(v.Layout) }},
				column[parley.BridgeView]{"state", bridgeState},
				column[parley.BridgeView]{"imported", func(v parley.BridgeView) string { return strconv.FormatInt(v.Status.Imported, 10) }},
				column[parley.BridgeView]{"exported", func(v parley.BridgeView) string { return strconv.FormatInt(v.Status.Exported, 10) }},
				column[parley.BridgeView]{"rejected", func(v parley.BridgeView) string { return strconv.FormatInt(v.Status.Rejected, 10) }},
				column[parley.BridgeView]{"agents", func(v parley.BridgeView) string { return strings.Join(v.Agents, ",") }},
				column[parley.BridgeView]{"root", func(v parley.BridgeView) string { return v.Root }},
				column[parley.BridgeView]{"problem", func(v parley.BridgeView) string { return v.Status.Trouble }},
			)
		}),
	}
}

const notRunning = "not running"

// bridgeState returns the state of a bridge in words.
func bridgeState(v parley.BridgeView) string {
	return strings.ReplaceAll(string(v.CurrentState()), "_", " ")
}

// bridgeArgCommand returns a command whose only argument is a bridge.
func (a *app) bridgeArgCommand(use, short, example string, do clientFunc) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: argCount(1, 1), ValidArgsFunction: completeArgs(a.completeBridges, completeNothing), RunE: a.withClient(do),
	}
}

// bridgePauseCommand returns the command that pauses or resumes a bridge.
func (a *app) bridgePauseCommand(verb, done string, paused bool) *cobra.Command {
	short := "Pause a bridge; its files wait"
	if !paused {
		short = "Resume a bridge"
	}
	return a.bridgeArgCommand(verb+" BRIDGE", short, "  parley bridge "+verb+" agentos-collab",
		func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.ChangeBridge(ctx, args[0], parley.BridgeChange{Paused: &paused})
			if err != nil {
				return err
			}
			return a.printDone(v, done, v.ID)
		})
}

func (a *app) bridgeSet() *cobra.Command {
	var agents, channels []string
	cmd := a.bridgeArgCommand("set BRIDGE", "Change the agents or the channels of a bridge",
		"  parley bridge set agentos-collab --agents reviewer,builder,tester\n  parley bridge set agentos-collab --channels agent-os-paper", nil)
	cmd.Flags().StringArrayVar(&agents, "agents", nil, "replace the agents that may send through the bridge: `names` separated by commas")
	cmd.Flags().StringArrayVar(&channels, "channels", nil, "agentos: replace the channels that the bridge connects: `names` separated by commas; all: every directory in the tree")
	completeFlag(cmd, "agents", a.completeAgentList)
	completeFlag(cmd, "channels", completeNothing)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if err := requireNonEmpty(cmd, "agents", "channels"); err != nil {
			return err
		}
		change, changed := bridgeChange(cmd, splitNames(agents...), splitNames(channels...))
		if !changed {
			return usagef(cmd, "nothing to change; use --agents or --channels")
		}
		v, err := c.ChangeBridge(ctx, args[0], change)
		if err != nil {
			return err
		}
		a.printNotices(v.Notices)
		return a.printDone(v, "changed", v.ID)
	})
	return cmd
}

func bridgeChange(cmd *cobra.Command, agents, channels []string) (change parley.BridgeChange, changed bool) {
	if cmd.Flags().Changed("agents") {
		change.Agents = &agents
	}
	if cmd.Flags().Changed("channels") {
		if len(channels) == 1 && channels[0] == parley.All {
			channels = []string{}
		}
		change.Channels = &channels
	}
	return change, change.Agents != nil || change.Channels != nil
}

func (a *app) bridgeRemove() *cobra.Command {
	return a.bridgeArgCommand("remove BRIDGE", "Remove a bridge; its tree stays unchanged", "  parley bridge remove agentos-collab",
		func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.RemoveBridge(ctx, args[0]); err != nil {
				return err
			}
			a.printStderr("the tree and its agents stay unchanged")
			return a.printAction("removed", args[0])
		})
}

// printNotices prints what the hub says besides the result of a call.
func (a *app) printNotices(list []string) {
	for _, notice := range list {
		a.printStderr("note: %s", notice)
	}
}

// completeBridges completes the ids of bridges.
func (a *app) completeBridges(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		bridges, _ := c.Bridges(ctx)
		for _, b := range bridges {
			add(b.ID, string(b.Layout)+" "+b.Root)
		}
	})
}

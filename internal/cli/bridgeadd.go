package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// layouts are the layouts of trees, as the user types them.
var layouts = []string{string(parley.LayoutAgentOS), string(parley.LayoutBlackboard), string(parley.LayoutInbox)}

func (a *app) bridgeAdd() *cobra.Command {
	var n parley.NewBridge
	var agents, channels []string
	var replay string
	cmd := &cobra.Command{
		Use:   "add LAYOUT DIR",
		Short: "Connect a directory tree to the hub",
		Long: `Connect a directory tree to the hub. LAYOUT is agentos (channels of message files), blackboard (an inbox for each
agent, and tasks) or inbox (an inbox for each agent, and sequences).

Files have no credentials: anyone who can write to DIR can send messages as the listed agents, but as nobody else. The
command adds agents that do not exist. They live in the tree: scripts answer for them. With --outside, the hub does not
run the bridge; run it with "parley bridge run" on the machine that has DIR.

The command returns after the bridge has scanned the tree once: it delivers every file that appears later. If the bridge
cannot scan the tree within 30 seconds, the command says why and exits with 5. The bridge stays added and keeps trying.`,
		Example: `  parley bridge add agentos /mnt/shared/collab --agents reviewer,builder
  parley bridge add agentos ./collab --agents reviewer --channels agent-os-paper --replay-since 2h
  parley bridge add blackboard ~/clawos/blackboard --agents gm,worker-1 --queue-agent gm
  parley bridge add inbox /srv/bus --agents planner,coder --name bus --outside`,
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(completeWords(layouts...), completeDirs, completeNothing),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&agents, "agents", nil, "agents that may send through the bridge: `names` separated by commas")
	flags.StringVar(&n.ID, "name", "", "`id` of the bridge (default: the layout and the name of DIR)")
	flags.StringArrayVar(&channels, "channels", nil, "agentos: channels that the bridge connects: `names` separated by commas (default: every channel in the tree)")
	flags.StringVar(&n.QueueAgent, "queue-agent", "", "blackboard: `agent` that gets requests without a recipient (default gm)")
	flags.StringVar(&replay, "replay-since", "", "agentos: deliver messages written since this `time`, or since a duration such as 2h, instead of keeping them as history")
	flags.BoolVar(&n.Outside, "outside", false, "run the bridge with parley bridge run, not in the hub")
	completeFlag(cmd, "agents", a.completeAgentList)
	completeFlag(cmd, "queue-agent", a.completeAgents)
	for _, name := range []string{"name", "channels", "replay-since"} {
		completeFlag(cmd, name, completeNothing)
	}
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) (err error) {
		if err := requireNonEmpty(cmd, "agents", "name", "channels", "queue-agent", "replay-since"); err != nil {
			return err
		}
		n.Layout, n.Agents, n.Channels = parley.Layout(args[0]), splitNames(agents...), splitNames(channels...)
		if n.ReplaySince, err = parsePastTime(cmd, "replay-since", replay); err != nil {
			return err
		}
		return a.addBridge(ctx, c, n, args[1])
	})
	return cmd
}

func (a *app) addBridge(ctx context.Context, c *client.Client, n parley.NewBridge, dir string) (err error) {
	if err := checkLayout(n.Layout); err != nil {
		return err
	}
	if n.Root, err = resolveRoot(dir, n.Outside); err != nil {
		return err
	}
	if len(n.Agents) == 0 {
		return parley.Errorf(parley.BadInput, "the command names no agent that may send through the bridge").
			Suggest("%s", suggestAgents(withoutHubAgents(ctx, c, candidateAgents(n.Layout, n.Root))))
	}
	before, _ := c.Agents(ctx)                  // on an error, fewer notes are printed
	inTree := candidateAgents(n.Layout, n.Root) // the first scan may create inboxes
	v, err := c.AddBridge(ctx, n)
	if err != nil && v.ID == "" {
		return err
	}
	a.printNotices(v.Notices)
	if !v.Outside {
		for _, id := range missingAgents(inTree, v.Agents, before) {
			a.printStderr("%s does not live in %s yet: the tree has no inbox, no presence file and no message of this agent", id, v.Root)
		}
	}
	if err != nil { // the user interrupted the command, or the hub is unavailable
		a.printStderr("%s was added, but may not have scanned the tree yet; check its state: %s", v.ID, a.commandLine("bridge", "show", v.ID))
		return err
	}
	if v.Outside {
		a.printStderr("run the bridge on the machine that has %s: %s", v.Root, a.commandLine("bridge", "run", v.ID))
	}
	return errors.Join(a.printDone(v, "added", v.ID, v.Root), a.firstScanError(v))
}

// firstScanError prints what keeps a new bridge from parts of its tree. It returns an error if the first scan is not
// finished, because a script must not write files yet.
func (a *app) firstScanError(v parley.BridgeView) error {
	late := "files that are in the tree before that scan may count as history"
	if v.Layout != parley.LayoutAgentOS {
		late = "files wait until the bridge scans the tree"
	}
	switch {
	case v.State == parley.BridgeLooking:
		return parley.Errorf(parley.TimedOut, "%s was added, but did not finish its first scan of the tree within %g seconds: %s", v.ID, client.AddBridgeWait.Seconds(), late).
			Suggest("check its state: %s", a.commandLine("bridge", "show", v.ID))
	case v.Status.Trouble != "" && !v.Status.Looked:
		return parley.Errorf(parley.TimedOut, "%s was added, but cannot scan the tree: %s; %s", v.ID, v.Status.Trouble, late).Suggest("%s", a.bridgeRemedy(v))
	case v.Status.Trouble != "":
		a.printStderr("note: the bridge cannot read a part of the tree: %s (%s)", v.Status.Trouble, a.bridgeRemedy(v))
	}
	return nil
}

func checkLayout(l parley.Layout) error {
	if slices.Contains(layouts, string(l)) {
		return nil
	}
	return parley.Errorf(parley.BadInput, "there is no layout %q", l).
		Suggest("%s", parley.DidYouMean(parley.Nearest(string(l), layouts), "use one of: "+strings.Join(layouts, ", ")))
}

// resolveRoot returns the absolute path of a directory without symbolic links. A directory on another machine stays as
// given.
func resolveRoot(dir string, onOtherMachine bool) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", parley.Errorf(parley.BadInput, "cannot find %s: %w", dir, err).Suggest("give a path that begins with /")
	}
	root, err := filepath.EvalSymlinks(abs)
	if err == nil {
		err = mustBeDirectory(root)
	}
	if err != nil && onOtherMachine {
		return abs, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", parley.Errorf(parley.BadInput, "there is no directory %s", abs).
			Suggest("create the directory first, or add the bridge with --outside if the directory is on another machine")
	}
	return root, err
}

func mustBeDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return parley.Errorf(parley.BadInput, "there is no directory %s", path).Suggest("run the bridge on the machine that has the tree, or create the directory first")
	case err != nil:
		return parley.Errorf(parley.BadInput, "cannot open %s: %w", path, withoutPath(err)).Suggest("check the permissions of the directories above it")
	case !info.IsDir():
		return parley.Errorf(parley.BadInput, "%s is not a directory", path).Suggest("name the root of the tree")
	default:
		return nil
	}
}

// parsePastTime parses a time in the past, or how long ago it was.
func parsePastTime(cmd *cobra.Command, flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	now := time.Now()
	when, err := parseTime(text, now)
	if ago, notSpan := parseDuration(text); notSpan == nil {
		when = now.Add(-ago)
	}
	if err != nil {
		return nil, usagef(cmd, "--%s: %w", flag, err)
	}
	if when.After(now) {
		return nil, usagef(cmd, "--%s: %s is in the future", flag, text)
	}
	when = when.UTC()
	return &when, nil
}

// completeDirs completes the names of directories.
func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

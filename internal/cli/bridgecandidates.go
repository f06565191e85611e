package cli

import (
	"context"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

const (
	maxEntries    = 1000 // entries read from one directory
	maxCandidates = 20
)

// candidateAgents returns the agents that seem to use a tree, sorted by name. It skips what it cannot read.
func candidateAgents(layout parley.Layout, dir string) (found []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	tree := root.FS()
	switch layout {
	case parley.LayoutAgentOS:
		found = append(presenceAgents(tree), channelSenders(tree)...)
	case parley.LayoutBlackboard:
		for _, name := range dirEntries(tree, ".", fs.DirEntry.IsDir) {
			if info, err := fs.Stat(tree, path.Join(name, "inbox")); err == nil && info.IsDir() {
				found = append(found, name)
			}
		}
	case parley.LayoutInbox:
		found = dirEntries(tree, "state/agents", fs.DirEntry.IsDir)
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(name string) bool { return !agentIDPattern.MatchString(name) })
}

var (
	agentIDPattern     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	messageFilePattern = regexp.MustCompile(`^msg-\d{8}-\d{6}-(.+)-[0-9a-f]{4}\.json$`)
)

// presenceAgents returns the agents with a presence file.
func presenceAgents(tree fs.FS) (agents []string) {
	for _, name := range dirEntries(tree, "signals/presence", isFile) {
		if agent, ok := strings.CutSuffix(name, ".json"); ok {
			agents = append(agents, agent)
		}
	}
	return agents
}

// channelSenders returns the senders of the message files in channels. The name of each file contains its sender.
func channelSenders(tree fs.FS) (agents []string) {
	for _, channel := range dirEntries(tree, "channels", fs.DirEntry.IsDir) {
		for _, name := range dirEntries(tree, path.Join("channels", channel), isFile) {
			if parts := messageFilePattern.FindStringSubmatch(name); parts != nil {
				agents = append(agents, parts[1])
			}
		}
	}
	return agents
}

func isFile(e fs.DirEntry) bool { return e.Type().IsRegular() }

// dirEntries returns the names in a directory that match. It reads only the first entries of a very large directory.
func dirEntries(tree fs.FS, dir string, matches func(fs.DirEntry) bool) (names []string) {
	file, err := tree.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	listed, ok := file.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	found, _ := listed.ReadDir(maxEntries)
	for _, e := range found {
		if matches(e) {
			names = append(names, e.Name())
		}
	}
	return names
}

// withoutHubAgents removes the names of agents that the hub has and that live in no tree. A tree has presence files and messages of
// these agents too.
func withoutHubAgents(ctx context.Context, c *client.Client, names []string) []string {
	agents, _ := c.Agents(ctx) // on an error, all names are suggested
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(agents, func(a parley.Agent) bool {
			return a.ID == name && a.RemovedAt == nil && a.Runtime != parley.RuntimeBridge
		})
	})
}

// missingAgents returns the names of agents that live in trees, according to the hub, but of which this tree has
// nothing: no inbox, no presence file, no message. They live in another tree, or the name is a mistake.
func missingAgents(inTree, names []string, agents []parley.Agent) (missing []string) {
	for _, a := range agents {
		if a.RemovedAt == nil && a.Runtime == parley.RuntimeBridge && slices.Contains(names, a.ID) && !slices.Contains(inTree, a.ID) {
			missing = append(missing, a.ID)
		}
	}
	return missing
}

// suggestAgents returns the hint that says how to name the agents of a bridge.
func suggestAgents(found []string) string {
	if len(found) == 0 {
		return "name the agents: --agents reviewer,builder"
	}
	more := ""
	if len(found) > maxCandidates {
		found, more = found[:maxCandidates], " (and there are more)"
	}
	return "name the agents; the tree has: --agents " + strings.Join(found, ",") + more
}

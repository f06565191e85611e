package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) bridgeShow() *cobra.Command {
	return a.bridgeArgCommand("show BRIDGE", "Show a bridge, its state, and the files it refused lately",
		"  parley bridge show agentos-collab\n  parley bridge show agentos-collab -o json",
		func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.Bridge(ctx, args[0])
			if err != nil {
				return err
			}
			shown := shownBridge{v, readLogEnd(v)}
			return a.printValue(shown, func() { a.showBridge(shown) })
		})
}

// shownBridge is the JSON output of a bridge, with the end of its log if the log is on this machine.
type shownBridge struct {
	parley.BridgeView
	Log []string `json:"log,omitempty"`
}

func (a *app) showBridge(v shownBridge) {
	runs := "by the hub"
	if v.Outside {
		runs = "outside: " + a.commandLine("bridge", "run", v.ID)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	a.printFields("id", v.ID, "layout", string(v.Layout), "root", v.Root, "state", bridgeState(v.BridgeView), "problem", v.Status.Trouble,
		"fix", a.bridgeRemedy(v.BridgeView), "runs", runs,
		"agents", strings.Join(v.Agents, ", "), "channels", strings.Join(v.Channels, ", "), "queue agent", v.QueueAgent,
		"replay since", a.formatOptionalTime(v.ReplaySince), "last scan", a.formatOptionalTime(v.Status.ScannedAt),
		"imported", number(v.Status.Imported), "pending", number(v.Status.Waiting), "exported", number(v.Status.Exported),
		"rejected", number(v.Status.Rejected), "evicted", number(v.Status.Evicted),
		"added by", v.CreatedBy, "added", a.formatTime(v.CreatedAt))
	if len(v.Log) > 0 {
		a.printWords("")
		for _, line := range v.Log {
			a.printWords(line)
		}
	}
}

// bridgeLogs are the files in which bridges log the files that they refuse.
var bridgeLogs = map[parley.Layout]string{
	parley.LayoutAgentOS:    "logs/parley.log",
	parley.LayoutBlackboard: ".parley/bridge.log",
	parley.LayoutInbox:      "error.log",
}

const (
	maxLogLines = 5
	maxLogBytes = 1 << 20 // a line that lists all issues of a document may be very long
	maxLogWidth = 400     // characters shown of a line
)

// readLogEnd returns the last lines of a bridge's log. It returns none if the tree is on another machine.
func readLogEnd(v parley.BridgeView) []string {
	root, err := os.OpenRoot(v.Root)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	name := bridgeLogs[v.Layout]
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() { // reading a pipe would block
		return nil
	}
	file, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	from := max(info.Size()-maxLogBytes, 0)
	raw, err := io.ReadAll(io.NewSectionReader(file, from, maxLogBytes))
	if err != nil {
		return nil
	}
	if _, whole, ok := bytes.Cut(raw, []byte("\n")); ok && from > 0 {
		raw = whole
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if lines = lines[max(len(lines)-maxLogLines, 0):]; lines[0] == "" {
		return nil
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > maxLogWidth {
			lines[i] = string(runes[:maxLogWidth]) + "…"
		}
	}
	return lines
}

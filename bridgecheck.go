package parley

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	maxRoot           = 1 << 10 // bytes, so that the path of a file below the root is not too long
	maxBridgeAgents   = 256
	maxBridgeChannels = 1024
)

// QueueAgent is the default agent for requests without a recipient.
const QueueAgent = "gm"

// Dialect returns the name of the format of a layout's files.
func (l Layout) Dialect() string {
	return map[Layout]string{LayoutAgentOS: "agentos", LayoutBlackboard: "clawos", LayoutInbox: "routing"}[l]
}

// Check returns the new bridge with its defaults, or an error that says what is wrong. The hub checks that the named agents and
// channels exist.
func (n NewBridge) Check() (NewBridge, error) {
	if n.Layout.Dialect() == "" {
		return n, Errorf(BadInput, "unknown layout %q", clip(string(n.Layout))).Suggest("use agentos, blackboard or inbox")
	}
	if err := n.checkRoot(); err != nil {
		return n, err
	}
	n.Root = filepath.Clean(n.Root)
	if n.ID == "" {
		n.ID = n.defaultID()
	}
	if !slugPattern.MatchString(n.ID) {
		return n, Errorf(BadInput, "%q is not a valid id for a bridge", clip(n.ID)).
			Suggest("an id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit")
	}
	if n.Layout == LayoutBlackboard && n.QueueAgent == "" {
		n.QueueAgent = QueueAgent
	}
	return n, n.checkNames()
}

func (n NewBridge) checkRoot() error {
	if err := checkText("root", n.Root, maxRoot); err != nil {
		return err
	}
	if !filepath.IsAbs(n.Root) || strings.ContainsAny(n.Root, "\r\n") {
		return Errorf(BadInput, "the directory %q is not absolute", clip(n.Root)).
			Suggest("give a path that begins with /: the hub does not know your current directory")
	}
	if clean := filepath.Clean(n.Root); clean == filepath.Dir(clean) {
		return Errorf(BadInput, "%s cannot be the root of a bridge", clean).Suggest("give the root directory of the tree")
	}
	return nil
}

var notInSlug = regexp.MustCompile(`[^a-z0-9_-]+`)

func (n NewBridge) defaultID() string {
	id := string(n.Layout) + "-" + notInSlug.ReplaceAllString(strings.ToLower(filepath.Base(n.Root)), "-")
	return strings.Trim(id[:min(len(id), 64)], "-")
}

func (n NewBridge) checkNames() error {
	if n.Layout != LayoutBlackboard && n.QueueAgent != "" {
		return Errorf(BadInput, "only the layout blackboard has requests without a recipient").Suggest("leave the queue agent out")
	}
	if n.Layout != LayoutAgentOS && n.ReplaySince != nil {
		return Errorf(BadInput, "only the layout agentos has history to replay").Suggest("leave replay_since out")
	}
	if err := checkBridgeAgents(n.Agents); err != nil {
		return err
	}
	return n.Layout.checkChannels(n.Channels)
}

func checkBridgeAgents(agents []string) error {
	switch {
	case len(agents) == 0:
		return Errorf(BadInput, "the bridge has no agents that may send through it").Suggest("name the agents of the tree, as in --agents claude,codex")
	case len(agents) > maxBridgeAgents:
		return tooLargeError("agents", len(agents), maxBridgeAgents, "entries")
	}
	for _, name := range agents {
		if err := checkText("agents", name, maxAddress); err != nil {
			return err
		}
	}
	return nil
}

func (l Layout) checkChannels(names []string) error {
	switch {
	case l != LayoutAgentOS && len(names) > 0:
		return Errorf(BadInput, "only the layout agentos has channels").Suggest("leave channels out")
	case len(names) > maxBridgeChannels:
		return tooLargeError("channels", len(names), maxBridgeChannels, "entries")
	}
	for _, name := range names {
		if err := CheckKnownChannelName(name); err != nil {
			return err
		}
	}
	return nil
}

// Check returns what is wrong with a change to a bridge of a layout, or nil.
func (c BridgeChange) Check(l Layout) error {
	if c.Agents != nil {
		if err := checkBridgeAgents(*c.Agents); err != nil {
			return err
		}
	}
	if c.Channels != nil {
		return l.checkChannels(*c.Channels)
	}
	return nil
}

// HasAgent reports whether an agent may send messages through the bridge.
func (b Bridge) HasAgent(agent string) bool { return slices.Contains(b.Agents, agent) }

// HasChannel reports whether the bridge connects a channel.
func (b Bridge) HasChannel(channel string) bool {
	return b.Layout == LayoutAgentOS && (len(b.Channels) == 0 || slices.Contains(b.Channels, channel))
}

package peer

import (
	"fmt"
	"os"
	"slices"
)

// Names of programs, as processes show them.
var (
	shells       = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "csh", "tcsh", "nu", "pwsh", "elvish", "xonsh", "busybox"}
	interpreters = []string{"node", "bun", "deno", "python", "python2", "python3", "ruby", "perl"}

	// personal are programs in which a person has other things open than a client. They are never clients, whatever else their
	// processes are called: terminal multiplexers, terminals, editors, and what starts sessions.
	personal = []string{
		"tmux", "tmate", "screen", "zellij", "dtach", "abduco", "byobu", "mosh-server",
		"xterm", "gnome-terminal-server", "gnome-terminal-", "konsole", "kitty", "alacritty", "wezterm-gui", "foot", "ghostty", "terminator", "tilix",
		"Terminal", "iTerm2", "Warp", "code", "codium", "Electron", "idea", "vim", "nvim", "emacs",
		"sshd", "sshd-session", "login", "su", "sudo", "systemd", "init", "launchd", "script",
	}
)

// clientKind says by which names the hub recognises the processes of a client.
type clientKind struct {
	name     string
	names    []string // names of programs, scripts and Node.js packages
	argument string   // an argument that the process must have; "" if it needs none
}

// clientKinds are the clients that the hub recognises. Claude Code, Codex and OpenCode are programs; Gemini CLI is a script of Node.js,
// which starts itself again. Cursor starts its MCP servers and hooks in a helper process of its window, or in cursor-agent. The main
// process of the window is no client, because it also has the person's own terminals.
var clientKinds = []clientKind{
	{name: "claude", names: []string{"claude", "claude-code"}},
	{name: "codex", names: []string{"codex"}},
	{name: "gemini", names: []string{"gemini", "gemini-cli"}},
	{name: "opencode", names: []string{"opencode", "opencode-ai"}},
	{name: "cursor", names: []string{"cursor-agent"}},
	{name: "cursor", names: []string{"cursor", "Cursor Helper (Plugin)"}, argument: "--type=utility"},
	{name: "qwen", names: []string{"qwen", "qwen-code"}},
	{name: "amp", names: []string{"amp"}},
	{name: "goose", names: []string{"goose"}},
	{name: "aider", names: []string{"aider"}},
}

// clientName returns the name of the client that a program is, or "" if it is none. more are the names of further clients, from
// the configuration.
func (p program) clientName(more []string) string {
	if p.hasName(personal) {
		return ""
	}
	names := p.names()
	for _, kind := range clientKinds {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(kind.names, name) }) &&
			(kind.argument == "" || slices.Contains(p.argv, kind.argument)) {
			return kind.name
		}
	}
	for _, name := range names {
		if slices.Contains(more, name) {
			return name
		}
	}
	return ""
}

// foundClient is the process that stands for the client of an agent.
type foundClient struct {
	process
	pid  int
	name string // "" if no ancestor was recognised, so that the process stands only for itself
}

// isPartOf reports whether a process without a client of its own comes from a recognised client of the same agent. Such a process has left
// its parents, like a hook that waits for mail.
func (c foundClient) isPartOf(o Origin, agent string) bool {
	return c.name == "" && o.Client.Program != "" && o.Agent == agent
}

// clientOf returns the client to which a process belongs: the process itself if its program is not parley, otherwise its nearest
// ancestor that is a client. If there is none, it is the process itself, without a name. An ancestor of the hub, a process of
// another user, the leader of a session with a terminal and process 1 are never clients.
func (r *Registry) clientOf(pid int, more []string) (foundClient, error) {
	p, err := processOf(pid)
	if err != nil {
		return foundClient{}, err
	}
	self := foundClient{process: p, pid: pid}
	if own := programOf(pid); own.name != "" && !own.isParley() {
		if self.name = own.clientName(more); self.name == "" {
			self.name = own.name
		}
		return self, nil
	}
	if found, ok := nearestClient(p, more, ancestors(r.self)); ok {
		return found, nil
	}
	return self, nil
}

// nearestClient returns the nearest ancestor of a process that is a client, up to the first of the excluded processes.
func nearestClient(p process, more []string, except map[int]bool) (found foundClient, ok bool) {
	for child := p; child.parent > 1 && !except[child.parent]; {
		parent, err := processOf(child.parent)
		if err != nil || parent.started > child.started {
			break // the parent has ended, and another process may have its number
		}
		if name := clientAt(child.parent, more); name != "" {
			return foundClient{parent, child.parent, name}, true
		}
		child = parent
	}
	return found, false
}

// OwnClient returns the name of the client from which this process descends, and a text for the client's process that no other process
// has. Both are "" if no ancestor is recognised. The text is "" for a client that leads its session, because it may be a daemon for
// several windows, as that of Codex is.
func OwnClient() (name, id string) {
	p, err := processOf(os.Getpid())
	if err != nil {
		return "", ""
	}
	found, ok := nearestClient(p, nil, nil)
	if !ok {
		return "", ""
	}
	if leadsSession(found.pid) {
		return found.name, ""
	}
	return found.name, fmt.Sprintf("%s-%d-%d", found.name, found.pid, found.started.Milliseconds())
}

// clientAt returns the name of the client that a process is, or "" if it is none. The leader of a session with a terminal is none: it may
// be the shell of a person, which has executed the client and is still the parent of what the person started before. A leader without
// a terminal is a daemon, such as the one in which Codex runs its hooks and commands.
func clientAt(pid int, more []string) string {
	if leadsTerminal(pid) || userOf(pid) != os.Geteuid() {
		return ""
	}
	return programOf(pid).clientName(more)
}

// leadsTerminal reports whether a process leads a session with a terminal.
func leadsTerminal(pid int) bool { return leadsSession(pid) && hasTerminal(pid) }

// ancestors returns a process and all its ancestors.
func ancestors(pid int) map[int]bool {
	found := map[int]bool{}
	for pid > 0 && !found[pid] {
		found[pid] = true
		p, err := processOf(pid)
		if err != nil {
			break
		}
		pid = p.parent
	}
	return found
}

package peer

import (
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// Names of programs, as processes show them.
var (
	shells       = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "csh", "tcsh", "nu", "pwsh", "elvish", "xonsh", "busybox"}
	multiplexers = []string{"tmux", "tmate", "screen", "zellij", "dtach", "abduco", "byobu", "mosh-server"}
	interpreters = []string{"node", "bun", "deno", "python", "python2", "python3", "ruby", "perl"}

	// knownClients are the programs and packages of the clients that have presets.
	knownClients = []string{
		"claude", "claude-code", "codex", "gemini", "gemini-cli", "opencode", "opencode-ai", "qwen", "qwen-code",
		"cursor-agent", "amp", "goose", "aider",
	}
)

// program describes the program of a process.
type program struct {
	name string   // as the system shows it
	file string   // path of the executable; empty if it is unknown
	argv []string // empty if it is unknown
}

// Attach registers the client of a session: the client and all its descendants, such as its shell, act as the agent while the
// session lasts. pid is the process that opened the session. If its program is not parley, this process is the client. Otherwise
// the client is the nearest ancestor with the name of a known client or a name in clients. If there is none, the process itself
// is the client, and UnknownClients lists the agent. Attach does nothing for a process of a run. The caller must call leave when
// the session ends.
func (r *Registry) Attach(pid int, agent string, clients []string) (leave func()) {
	if origin, err := r.OriginOf(pid); err != nil || origin.Run != "" {
		return func() {}
	}
	client, found := r.clientOf(pid, slices.Concat(knownClients, clients))
	remove := r.Add(client, agent, "")
	if found {
		return remove
	}
	r.addUnknown(agent, 1)
	return sync.OnceFunc(func() {
		r.addUnknown(agent, -1)
		remove()
	})
}

func (r *Registry) addUnknown(agent string, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unknown[agent] += more; r.unknown[agent] <= 0 {
		delete(r.unknown, agent)
	}
}

// clientOf returns the nearest ancestor of a process that is a client. It returns the process itself if its program is not
// parley, and also, with found false, if no ancestor is a client.
func (r *Registry) clientOf(pid int, clients []string) (client int, found bool) {
	own := programOf(pid)
	if own.name != "" && !own.isParley() {
		return pid, true
	}
	p, err := processOf(pid)
	for range maxAncestry {
		if err != nil || p.parent <= 1 || p.parent == os.Getpid() {
			break
		}
		parent, failed := processOf(p.parent)
		if failed != nil || parent.started > p.started {
			break // the parent has ended, and another process has its number
		}
		if isClient(p.parent, parent, clients) {
			return p.parent, true
		}
		p = parent
	}
	return pid, false
}

// isClient reports whether a process is a client. The leader of a session of the system is none, because a terminal started it
// for a person.
func isClient(pid int, p process, clients []string) bool {
	if p.session == pid {
		return false
	}
	found := programOf(pid)
	return !found.hasName(multiplexers) && slices.ContainsFunc(found.names(), func(name string) bool { return slices.Contains(clients, name) })
}

// hasName reports whether the program has one of the names.
func (p program) hasName(names []string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(p.name, "-"), ":") // "tmux: server"
	return slices.Contains(names, name) || p.file != "" && slices.Contains(names, path.Base(p.file))
}

// isParley reports whether the program is parley, which clients start to follow a session. The name of its file may contain a
// version or a system: parley-v2, parley_linux_amd64.
func (p program) isParley() bool {
	return slices.ContainsFunc([]string{p.name, path.Base(p.file)}, func(name string) bool {
		rest, found := strings.CutPrefix(name, "parley")
		return found && (rest == "" || strings.ContainsRune("-_.", rune(rest[0])))
	})
}

// names returns the names that a program may have. For a shell or an interpreter, these are only the names of the script.
func (p program) names() []string {
	if p.hasName(shells) || p.hasName(interpreters) {
		return append(p.script(), p.titles()...)
	}
	names := []string{p.name, path.Base(p.file)}
	if len(p.argv) > 0 {
		names = append(names, path.Base(p.argv[0]))
	}
	return names
}

// script returns the names of the script that the program runs: the packages that contain its file, and the name of the file.
func (p program) script() []string {
	for i, arg := range p.argv {
		if i == 0 {
			continue
		}
		if strings.HasPrefix(arg, "-") {
			if p.hasName(shells) {
				return nil // the shell runs no script file
			}
			continue
		}
		return append(packages(arg), strings.TrimSuffix(path.Base(arg), path.Ext(arg)))
	}
	return nil
}

// packages returns the names of the Node.js packages that contain a file.
func packages(file string) (names []string) {
	elements := strings.Split(file, "/")
	for i, element := range elements {
		for next := i + 1; element == "node_modules" && next < len(elements); next++ {
			if names = append(names, elements[next]); !strings.HasPrefix(elements[next], "@") {
				break
			}
		}
	}
	return names
}

// titles returns the names that a script may have given to the process of its interpreter.
func (p program) titles() []string {
	if p.hasName(shells) || len(p.argv) == 0 {
		return nil
	}
	title, _, _ := strings.Cut(p.argv[0], " ")
	return []string{p.name, path.Base(title)}
}

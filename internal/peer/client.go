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
	file string   // path of the executable; may be empty
	argv []string // may be empty
}

// Attach makes the client of a session, and everything that descends from it, its shell included, speak for an agent while
// the session lasts. pid is the process that opened the session. If that process is not parley itself, it is the client.
// Otherwise the client is the nearest ancestor whose name is a known client or one of those given. If there is none, the client
// is the process itself, and UnknownClients lists the agent. A process of a run stays the run's.
func (r *Registry) Attach(pid int, agent string, clients []string) (leave func()) {
	if origin, err := r.Who(pid); err != nil || origin.Run != "" {
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

// clientOf goes up from a process until it finds a client. It passes over the shells of clients.
func (r *Registry) clientOf(pid int, clients []string) (client int, found bool) {
	own := describe(pid)
	if own.name != "" && !own.isMessenger() {
		return pid, true
	}
	p, err := look(pid)
	for range maxAncestry {
		if err != nil || p.parent <= 1 || p.parent == os.Getpid() {
			break
		}
		parent, failed := look(p.parent)
		if failed != nil || parent.started > p.started {
			break // the system has given it another parent meanwhile
		}
		if isClient(p.parent, parent, clients) {
			return p.parent, true
		}
		p = parent
	}
	return pid, false
}

// isClient reports whether a process is a client. The leader of a session is not: a terminal started it for a person.
func isClient(pid int, p process, clients []string) bool {
	if p.session == pid {
		return false
	}
	what := describe(pid)
	return !what.is(multiplexers) && slices.ContainsFunc(what.names(), func(name string) bool { return slices.Contains(clients, name) })
}

// is reports whether the program has one of the names.
func (p program) is(names []string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(p.name, "-"), ":") // "tmux: server"
	return slices.Contains(names, name) || p.file != "" && slices.Contains(names, path.Base(p.file))
}

// isMessenger reports whether the program is parley, which clients start to follow a session. The name of its file may contain
// a version or a system: parley-v2, parley_linux_amd64.
func (p program) isMessenger() bool {
	return slices.ContainsFunc([]string{p.name, path.Base(p.file)}, func(name string) bool {
		rest, found := strings.CutPrefix(name, "parley")
		return found && (rest == "" || strings.ContainsRune("-_.", rune(rest[0])))
	})
}

// names returns the names by which a program may be known. For a shell or an interpreter, these are only names of the script.
func (p program) names() []string {
	if p.is(shells) || p.is(interpreters) {
		return append(p.script(), p.titles()...)
	}
	names := []string{p.name, path.Base(p.file)}
	if len(p.argv) > 0 {
		names = append(names, path.Base(p.argv[0]))
	}
	return names
}

// script returns the names of the script: of its file and of the packages that contain it.
func (p program) script() []string {
	for i, arg := range p.argv {
		if i == 0 {
			continue
		}
		if strings.HasPrefix(arg, "-") {
			if p.is(shells) {
				return nil // it does not run a script file
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

// titles returns the process names that a script has set for its interpreter.
func (p program) titles() []string {
	if p.is(shells) || len(p.argv) == 0 {
		return nil
	}
	title, _, _ := strings.Cut(p.argv[0], " ")
	return []string{p.name, path.Base(title)}
}

package peer

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Connected is a process whose agent has called the hub from it or from a descendant. The process and all its descendants act as
// the agent until the process ends, also through a restart of the hub.
type Connected struct {
	parley.ClientProcess
	AgentUUID string        `json:"agent_uuid"`
	Started   time.Duration `json:"started"`        // on the clock of the system
	Boot      string        `json:"boot,omitempty"` // the start of the system from which that clock counts
	Mark      uint64        `json:"mark,omitempty"` // 0 if the process has no mark
	Proof     uint64        `json:"proof,omitempty"`
}

// limits returns the limits that the process and its descendants have.
func (c Connected) limits() limits { return limits{c.Mark, c.Proof} }

// isAlive reports whether the process goes on.
func (c Connected) isAlive() bool {
	p, err := processOf(c.PID)
	return err == nil && p.started == c.Started
}

// Connect notes that a process has called the hub with the token of an agent, as "parley mcp" or a hook of a client. From now on,
// the client that the process belongs to acts as the agent, with all its descendants. If no client is recognised, only the process
// itself does. programs are the names of further clients. The first agent of a process stays its agent. Connect does nothing for a
// process of a run. It reports whether it has added a client that it recognised.
func (r *Registry) Connect(pid int, agent parley.Agent, programs []string) (added bool) {
	origin, err := r.OriginOf(pid)
	if err != nil || origin.Run != "" {
		return false
	}
	found, err := r.clientOf(pid, programs)
	if err != nil || r.isConnected(found.pid, found.started) || found.isPartOf(origin, agent.ID) {
		return false
	}
	marks := r.limitsOfClient(found)
	if current, err := limitsOf(pid); origin.Leftover && (err != nil || current != marks) {
		return false // otherwise the hub marked this client, and lost its list
	}
	c := Connected{
		ClientProcess: parley.ClientProcess{Agent: agent.ID, PID: found.pid, Program: found.name},
		AgentUUID:     agent.UUID, Started: found.started, Boot: boot(),
	}
	if found.name != "" {
		marks = markClient(found, marks)
		c.Mark, c.Proof = marks.mark, marks.proof
	}
	r.dropEnded()
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.connected[c.PID]; ok && known.Started == c.Started {
		return false
	}
	r.connected[c.PID] = c
	r.version.Add(1)
	return c.Program != ""
}

// markClient marks a client, so that the hub also recognises a descendant that has left its parents. It returns the marks, or none
// if the client has other marks already, such as those of another hub, or cannot be marked.
func markClient(c foundClient, marks limits) limits {
	current, err := limitsOf(c.pid)
	switch {
	case err != nil || marks.mark == 0 || marks.proof == 0:
		return limits{}
	case current == marks:
		return marks
	case current.mark < ownLimit() || current.proof < ownProof():
		return limits{}
	}
	if now, err := processOf(c.pid); err != nil || now.started != c.started || !marks.lower(c.pid) {
		return limits{}
	}
	return marks
}

func (r *Registry) isConnected(pid int, started time.Duration) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.connected[pid]
	return ok && known.Started == started
}

// keptEnded is how many ended processes the list may have before dropEnded looks at all of them.
const keptEnded = 16

// dropEnded removes the processes that have ended, if the list has grown to twice its size since the last time.
func (r *Registry) dropEnded() {
	r.mu.RLock()
	due := len(r.connected) >= 2*r.sound+keptEnded
	r.mu.RUnlock()
	if due {
		_ = r.Connected()
	}
}

// Connected returns the connected processes that go on, in the order of their agents. It forgets those that have ended.
func (r *Registry) Connected() []Connected {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.connected, func(_ int, c Connected) bool { return !c.isAlive() })
	r.sound = len(r.connected)
	return slices.SortedFunc(maps.Values(r.connected), func(a, b Connected) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.PID, b.PID))
	})
}

// Restore adds the connected processes of an earlier hub that go on. programs are the names of further clients. Somebody may have damaged
// or forged the list, so Restore adds only what Connect could have added. The first agent of a process counts.
func (r *Registry) Restore(list []Connected, programs []string) {
	now, above, seen := boot(), ancestors(r.self), map[int]bool{}
	var sound []Connected
	for _, c := range list {
		if c.Boot != now || seen[c.PID] {
			continue
		}
		if seen[c.PID] = true; c.isAlive() && c.mayBeRestored(programs, above) {
			sound = append(sound, c)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range sound {
		r.connected[c.PID] = c
	}
	r.version.Add(1)
}

// mayBeRestored reports whether a process of a stored list can be a client of an agent. above are the hub and its ancestors: only a client
// with marks can have started the hub.
func (c Connected) mayBeRestored(programs []string, above map[int]bool) bool {
	switch {
	case c.PID <= 1 || userOf(c.PID) != os.Geteuid():
		return false
	case parley.CheckKnownID(c.Agent) != nil || c.AgentUUID == "":
		return false
	case c.limits() == limits{}:
		return !above[c.PID] && c.isClient(programs)
	default:
		return c.hasMarks() && c.isClient(programs)
	}
}

// hasMarks reports whether the process has the limits that the list names, and whether they can be the marks of a client. Without marks,
// the limits of a process are those of all processes of the user.
func (c Connected) hasMarks() bool {
	current, err := limitsOf(c.PID)
	return err == nil && current == c.limits() && c.Mark < highest && c.Proof < highest
}

// isClient reports whether the process runs the program that the list names, and whether it can be a client: one that clientAt recognises, or
// a program that has called the hub itself.
func (c Connected) isClient(programs []string) bool {
	p := programOf(c.PID)
	if name := p.clientName(programs); name != "" {
		return name == c.Program && !leadsTerminal(c.PID)
	}
	return p.name != "" && p.name == c.Program && !p.isParley() && !p.hasName(shells) && !p.hasName(personal)
}

// connectedBy returns the process from which a process with certain limits descends. It returns false if there is none, or several
// with different agents.
func (r *Registry) connectedBy(l limits) (found Connected, ok bool) {
	if l.proof == 0 {
		return found, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, c := range r.connected {
		if c.limits() != l || !c.isAlive() {
			continue
		}
		if ok && found.AgentUUID != c.AgentUUID {
			return Connected{}, false
		}
		found, ok = c, true
	}
	return found, ok
}

// Attach makes the client of a session act as the agent while the session lasts. It finds the client as Connect does. If it
// recognises none, UnknownClients lists the agent. Attach does nothing for a process of a run. The caller must call leave when the
// session ends.
func (r *Registry) Attach(pid int, agent string, programs []string) (leave func()) {
	origin, err := r.OriginOf(pid)
	if err != nil || origin.Run != "" {
		return func() {}
	}
	client, err := r.clientOf(pid, programs)
	if err != nil || client.isPartOf(origin, agent) {
		return func() {}
	}
	remove := r.Add(client.pid, agent, "")
	if client.name != "" {
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

// UnknownClients returns the agents with a session whose client the registry did not recognise, in order.
func (r *Registry) UnknownClients() []string {
	agents := map[string]bool{}
	for _, c := range r.Connected() {
		if c.Program == "" {
			agents[c.Agent] = true
		}
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for agent := range r.unknown {
		agents[agent] = true
	}
	return slices.Sorted(maps.Keys(agents))
}

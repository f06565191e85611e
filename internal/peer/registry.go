package peer

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
)

// Registry records which processes belong to which agent. It identifies a process by its PID and its start time. It is safe for
// concurrent use.
type Registry struct {
	self    int          // the process of the hub
	node    uint64       // the number of the hub in the marks of its runs
	clients uint64       // the number of the hub in the marks of connected clients
	version atomic.Int64 // changes with every claim

	mu        sync.RWMutex
	claims    map[int]claim
	first     time.Duration   // when the first run was started; 0 if there was none
	unknown   map[string]int  // number of sessions with an unknown client, by agent
	untrusted map[uint64]bool // marks that prove nothing, because two runs have them, or processes of an ended run may have them

	connected map[int]Connected // by PID; may contain processes that have ended
	sound     int               // how many of them went on when the registry last looked
}

// claim says to which agent and run a process belongs.
type claim struct {
	agent   string
	uuid    string // of the agent; "" if it is unknown
	program string // the name of the connected client; "" if it is unknown
	run     string // "" for the client of a session
	limits         // the limits of the processes of the run
	started time.Duration
	times   int
}

// NewRegistry makes an empty registry. node is the name of the hub. It distinguishes the processes of this hub's runs from those
// of other hubs.
func NewRegistry(node string) *Registry {
	r := &Registry{
		self: os.Getpid(), node: nodeNumber(node), clients: nodeNumber(node + "/clients"),
		claims: map[int]claim{}, unknown: map[string]int{}, untrusted: map[uint64]bool{}, connected: map[int]Connected{},
	}
	if r.clients == r.node {
		r.clients ^= 1 // the hub kills processes with its marks of runs
	}
	return r
}

// Add registers a process: the process and all its descendants act as the agent, in the run, or as the client of a session if run
// is empty. The caller must call remove after it has waited for the process of a run, before the system gives its PID to another
// process. A process that was added several times belongs to the first agent until each addition is removed. Add does nothing if
// the process has ended.
func (r *Registry) Add(pid int, agent, run string) (remove func()) {
	p, err := processOf(pid)
	if err != nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if run != "" && (r.first == 0 || p.started < r.first) {
		r.first = p.started
	}
	known, ok := r.claims[pid]
	if !ok || known.started != p.started {
		known = claim{agent: agent, run: run, started: p.started}
		if run != "" {
			known.limits = r.limitsFor(run)
			r.checkMark(known)
		}
	}
	known.times++
	r.claims[pid] = known
	r.version.Add(1)
	return sync.OnceFunc(func() { r.remove(pid, p.started) })
}

func (r *Registry) remove(pid int, started time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.claims[pid]
	if !ok || known.started != started {
		return // another process has this PID now
	}
	r.version.Add(1)
	if known.times--; known.times > 0 {
		r.claims[pid] = known
		return
	}
	delete(r.claims, pid)
}

// checkMark notes that the mark of a claim proves nothing if another run has the same mark. The caller must hold r.mu.
func (r *Registry) checkMark(added claim) {
	for _, c := range r.claims {
		if c.run != "" && c.run != added.run && c.mark == added.mark {
			r.untrusted[added.mark] = true
		}
	}
}

// distrust notes that marks prove nothing any more, because processes of an ended run may still have them.
func (r *Registry) distrust(marks ...uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, mark := range marks {
		r.untrusted[mark] = true
	}
}

// claimOf returns the claim of a process, and false if the process itself was neither added nor connected. It ignores the ancestors of
// the process.
func (r *Registry) claimOf(pid int, started time.Duration) (claim, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if known, ok := r.claims[pid]; ok && known.started == started && known.run != "" {
		return known, true
	}
	if c, ok := r.connected[pid]; ok && c.Started == started {
		return claim{agent: c.Agent, uuid: c.AgentUUID, program: c.Program, started: started}, true
	}
	known, ok := r.claims[pid]
	return known, ok && known.started == started
}

// runIn returns the claim of the run whose first process leads a session, and false if there is none. A process cannot join an
// existing session, so every process in the session comes from the run.
func (r *Registry) runIn(session int) (claim, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.claims[session]
	return known, ok && known.run != ""
}

// runs returns the first process of each registered run, by the id of the run.
func (r *Registry) runs() map[string]parley.Process {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found := map[string]parley.Process{}
	for pid, c := range r.claims {
		if c.run != "" {
			found[c.run] = parley.Process{PID: pid, Started: int64(c.started)}
		}
	}
	return found
}

// firstRun returns when the first run was started, and false if there was none.
func (r *Registry) firstRun() (started time.Duration, some bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.first, r.first != 0
}

const (
	maxAncestry  = 1000 // ancestors of a process; no process has more
	walkAttempts = 5
)

// errAncestryChanged is the error of walk if an ancestor ends during the walk, or if the hub cannot see it.
var errAncestryChanged = errors.New("its ancestors keep changing, or are hidden from the hub (hidepid)")

// Origin says from which agent and run a process descends. It is zero for a process of the local owner.
type Origin struct {
	Agent    string
	Run      string // "" if the process descends from a session or a connected client
	Leftover bool   // the process comes from a run or a client that has ended, or that this hub does not know

	// Client is the process from which it descends, and AgentUUID its agent, if it descends from a connected client.
	Client    parley.ClientProcess
	AgentUUID string
}

// OriginOf returns the origin of a process. The nearest registered ancestor counts, but a run counts before every session, so a
// process of a run cannot become another agent's. If no ancestor belongs to a run, the mark of the process decides, because a
// daemon has detached itself from its parents. The origin of the hub itself is zero. OriginOf returns an error if it cannot find the
// ancestors.
func (r *Registry) OriginOf(pid int) (o Origin, err error) {
	if pid == r.self {
		return o, nil
	}
	for range walkAttempts {
		if o, err = r.walk(pid); !errors.Is(err, errAncestryChanged) {
			break
		}
	}
	if err != nil || o.Run != "" {
		return o, err
	}
	byMark, err := r.originByMark(pid)
	if byMark.Run != "" || o.Agent == "" && byMark.Agent != "" || o == (Origin{}) {
		o = byMark
	}
	return o, err
}

// origin returns the origin of the descendants of a registered process that belongs to no run.
func (c claim) origin(pid int) Origin {
	if c.uuid == "" {
		return Origin{Agent: c.agent}
	}
	return Origin{Agent: c.agent, AgentUUID: c.uuid, Client: parley.ClientProcess{Agent: c.agent, PID: pid, Program: c.program}}
}

// walk returns the origin of a process by its ancestors. If a parent has ended, or is younger than its child because another
// process has its PID, walk returns errAncestryChanged.
func (r *Registry) walk(pid int) (o Origin, err error) {
	p, err := processOf(pid)
	if err != nil {
		return o, err
	}
	for range maxAncestry {
		known, ok := r.claimOf(pid, p.started)
		if ok && o.Agent == "" {
			o = known.origin(pid)
		}
		if !ok || known.run == "" {
			known, ok = r.runIn(p.session)
		}
		switch {
		case ok && known.run != "":
			return Origin{Agent: known.agent, Run: known.run}, nil
		case pid == r.self:
			o.Leftover = o.Agent == ""
			return o, nil
		case pid <= 1 || p.parent <= 0:
			return o, nil
		}
		parent, err := processOf(p.parent)
		if errors.Is(err, errEnded) || err == nil && parent.started > p.started {
			return o, errAncestryChanged
		}
		if err != nil {
			return o, err
		}
		pid, p = p.parent, parent
	}
	return o, fmt.Errorf("it has more than %d ancestors", maxAncestry)
}

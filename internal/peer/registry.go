package peer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
)

// Registry records which processes belong to which agent. It identifies a process by its number and its start time. It is safe
// for concurrent use.
type Registry struct {
	node    uint64       // of the hub, in the marks of its runs
	version atomic.Int64 // changes with every claim

	mu      sync.RWMutex
	claims  map[int]claim
	first   time.Duration   // when the first run was started; 0 if none was
	unknown map[string]int  // number of sessions with an unknown client, by agent
	unsure  map[uint64]bool // marks that prove nothing: two runs have them, or an ended run's processes may have them
}

// claim is the agent and run of a process, and how often they were added.
type claim struct {
	agent   string
	run     string // "" for the client of a session
	limits         // of the processes of the run
	started time.Duration
	times   int
}

// NewRegistry makes an empty registry. The name of the node tells processes left by its runs from those left by runs of other
// hubs.
func NewRegistry(node string) *Registry {
	return &Registry{node: nodeNumber(node), claims: map[int]claim{}, unknown: map[string]int{}, unsure: map[uint64]bool{}}
}

// Add makes a process, and everything that descends from it, speak for an agent: as the run, or as the client of a session
// if run is empty. The caller must remove the process of a run after it has waited for it, before the system reuses its
// number. A process that was added several times stays the first agent's until each addition is removed.
func (r *Registry) Add(pid int, agent, run string) (remove func()) {
	p, err := look(pid)
	if err != nil {
		return func() {} // it has ended
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
		return // another process has its number now
	}
	r.version.Add(1)
	if known.times--; known.times > 0 {
		r.claims[pid] = known
		return
	}
	delete(r.claims, pid)
}

// checkMark marks the mark of a claim as unsure if another run has the same one. The caller must hold r.mu.
func (r *Registry) checkMark(new claim) {
	for _, c := range r.claims {
		if c.run != "" && c.run != new.run && c.mark == new.mark {
			r.unsure[new.mark] = true
		}
	}
}

// distrust makes marks prove nothing any more, because processes of an ended run may still have them.
func (r *Registry) distrust(marks ...uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, mark := range marks {
		r.unsure[mark] = true
	}
}

// claimOf returns the claim of the process itself, without regard to its ancestors.
func (r *Registry) claimOf(pid int, started time.Duration) (claim, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.claims[pid]
	return known, ok && known.started == started
}

// runIn returns the claim of the run whose first process leads a session. A process cannot join an existing session, so every
// process in it comes from the run.
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

func (r *Registry) firstRun() (started time.Duration, some bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.first, r.first != 0
}

// UnknownClients returns the agents that have a session whose client was not recognised.
func (r *Registry) UnknownClients() (agents []string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for agent := range r.unknown {
		agents = append(agents, agent)
	}
	slices.Sort(agents)
	return agents
}

const (
	maxAncestry  = 1000 // no real ancestry is longer
	walkAttempts = 5
)

// errAncestryChanged says that an ancestry changed during the walk, or that the hub cannot see it.
var errAncestryChanged = errors.New("its ancestors keep changing, or are hidden from the hub (hidepid)")

// Origin is the agent and run from which a process descends. It is zero for a process of the owner.
type Origin struct {
	Agent string
	Run   string // "" if the process descends from a session
	Left  bool   // the process comes from a run that has ended or is unknown
}

// Who finds the agent from which a process descends. The nearest ancestor counts, but a run counts before every session, so a
// process of a run cannot become another agent's. If the ancestry leads to no run, the marks of the process decide, because a
// daemon has left its parents. This process itself has the zero Origin.
func (r *Registry) Who(pid int) (o Origin, err error) {
	if pid == os.Getpid() {
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
	byMark, err := r.marked(pid)
	if byMark.Run != "" || o == (Origin{}) {
		o = byMark
	}
	return o, err
}

// walk goes up the ancestry of a process. If a parent has ended or is younger than its child, the system has given the child
// another parent meanwhile, and walk returns errAncestryChanged.
func (r *Registry) walk(pid int) (o Origin, err error) {
	self := os.Getpid()
	p, err := look(pid)
	if err != nil {
		return o, err
	}
	for range maxAncestry {
		known, ok := r.claimOf(pid, p.started)
		if ok && o.Agent == "" {
			o.Agent = known.agent
		}
		if !ok || known.run == "" {
			known, ok = r.runIn(p.session)
		}
		switch {
		case ok && known.run != "":
			return Origin{Agent: known.agent, Run: known.run}, nil
		case pid == self:
			o.Left = o.Agent == ""
			return o, nil
		case pid <= 1 || p.parent <= 0:
			return o, nil
		}
		parent, err := look(p.parent)
		if errors.Is(err, errGone) || err == nil && parent.started > p.started {
			return o, errAncestryChanged
		}
		if err != nil {
			return o, err
		}
		pid, p = p.parent, parent
	}
	return o, fmt.Errorf("its ancestry has no end")
}
